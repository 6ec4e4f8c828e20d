import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort, SERVICE_PROGRAM } from "../../fixtures/service.ts";
import { printCosts } from "./print-costs.ts";
import { readProfile } from "./read-profile.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Profiles a service's second start until the service is ready, and prints the costs. */
export async function profileStart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-profile-"));
  try {
    await start(folder, []);
    const readyMs = await start(folder, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
    // Worker threads write profiles too. The busiest profile is that of the main thread.
    const profiles = readdirSync(folder)
      .filter((name) => name.endsWith(".cpuprofile"))
      .map((name) => readProfile(JSON.parse(readFileSync(join(folder, name), "utf8")), ROOT));
    const main = profiles.toSorted((a, b) => b.busyMs - a.busyMs)[0];
    if (!main) throw new Error("no profile was written");
    console.log(
      `\nReady after ${readyMs.toFixed(0)} ms under the profiler, busy for ${main.busyMs.toFixed(0)} ms of them.\n`,
    );
    console.log("Self time by package, ms:\n");
    printCosts(main.packages, "selfMs", 25);
    console.log("\nTotal time by package, with its synchronous calls and its imports, ms:\n");
    printCosts(main.packages, "totalMs", 30);
    console.log("\nSelf time by function, ms:\n");
    printCosts(main.functions, "selfMs", 25);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function start(dataDir: string, flags: string[]): Promise<number> {
  const port = String(await findFreePort());
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [...flags, "--disable-warning=ExperimentalWarning", SERVICE_PROGRAM],
    {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: "production", LOG_LEVEL: "warn", DATA_DIR: dataDir, PORT: port },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(child, "exit");
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.includes("is ready")) break;
  }
  const readyMs = performance.now() - startedAt;
  child.stdout.resume();
  child.kill("SIGTERM");
  await exited;
  return readyMs;
}
