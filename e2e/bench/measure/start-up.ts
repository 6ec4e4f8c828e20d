import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../../fixtures/service.ts";
import { readMemoryMb } from "../process-stats.ts";
import type { Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const IDLE_MS = 3_000;

/** A second start on the same data, from the process's beginning to the banner, and what the idle service holds. */
async function measureStartUp({ variables, isBuilt, pathOf, database }: Rig): Promise<Row[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-start-"));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    NODE_ENV: "production",
    ...variables,
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
  };
  const root = pathOf("../..");
  // The whole of `npm start`; outside `npm run bench`, where it might have to build first, the service alone.
  const command = isBuilt
    ? ["lib/setup/run.mjs", "start"]
    : ["--disable-warning=ExperimentalWarning", "lib/server/main.ts"];
  try {
    await startOnce(root, command, env, 0);
    const starts = [];
    for (const idleMs of [0, 0, IDLE_MS]) starts.push(await startOnce(root, command, env, idleMs));
    const idle = starts.at(-1)?.memory ?? { all: 0, largest: 0, processes: 0 };
    const onPostgres = database !== undefined;
    return [
      {
        what: isBuilt ? "ready at a second npm start" : "ready at a second start of the service",
        unit: "s",
        value: median(starts.map(({ readyMs }) => readyMs)) / 1000,
        target: { atMost: 1.5 },
        behind: {},
      },
      {
        what: onPostgres ? "idle memory (PSS) without its Postgres server" : "idle memory (PSS)",
        value: idle.all,
        unit: "MB",
        target: { atMost: 350 },
        behind: { largestProcessMb: idle.largest, processes: idle.processes },
      },
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startOnce(root: string, command: string[], env: Record<string, string>, idleMs: number) {
  const port = String(await findFreePort());
  const startedAt = performance.now();
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...env, PORT: port, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  try {
    let output = "";
    for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      output += chunk;
      if (output.includes("is ready")) break;
    }
    if (!output.includes("is ready")) throw new Error(`the service did not start:\n${output}`);
    const readyMs = performance.now() - startedAt;
    child.stdout.resume();
    if (idleMs > 0) await sleep(idleMs);
    return { readyMs, memory: readMemoryMb(child.pid ?? 0) };
  } finally {
    child.kill("SIGTERM");
    await gone;
  }
}

export const startUpMeasurement: Measurement = { name: "start", seconds: 25, measure: measureStartUp };
