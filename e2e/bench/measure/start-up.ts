import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, SERVICE_PROGRAM, startService } from "../../fixtures/service.ts";
import { playTurn } from "../play-turn.ts";
import { describeService, type Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const STARTS = 3;
/** After this many turns, a process counts as warm. */
const WARM = 100;

/**
 * Measures two starts on a new data folder: the time until the service is ready, and the time until it has served its
 * first page. Also measures the first turn.
 */
async function measureStartUp(rig: Rig): Promise<Row[]> {
  const starts: Awaited<ReturnType<typeof startTwice>>[] = [];
  for (let number = 0; number < STARTS; number++) {
    await prepareDatabase(rig);
    starts.push(await startTwice(rig));
  }
  const row = (what: string, read: (times: (typeof starts)[number]) => number): Row => ({
    what,
    unit: "s",
    value: median(starts.map(read)) / 1000,
    target: { atMost: 1.5 },
    behind: {},
  });
  const by = rig.isBuilt ? "npm start" : "start of the service";
  return [
    row(`ready after a ${by} with an empty data folder`, ({ first }) => first.readyMs),
    row(`ready after a second ${by}`, ({ second }) => second.readyMs),
    row(`first page served after a second ${by}`, ({ second }) => second.pageMs),
    await measureFirstTurn(rig),
  ];
}

/** Runs the step of the set-up that prepares the database, so that each first start finds what the set-up leaves. */
async function prepareDatabase({ pathOf }: Rig): Promise<void> {
  const script = pathOf("../../db/embedded/prepare-template.ts");
  const args = ["--disable-warning=ExperimentalWarning", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`prepare-template.ts exited with ${code}`);
}

async function startTwice({ variables, isBuilt, pathOf }: Rig) {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-start-"));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    ...variables,
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
  };
  // If the build is up to date, as in `npm run bench`, the whole `npm start` is measured. Otherwise only the service's
  // own process is measured.
  const command = isBuilt
    ? ["lib/setup/run.mjs", "start"]
    : ["--disable-warning=ExperimentalWarning", SERVICE_PROGRAM];
  try {
    return {
      first: await startOnce(pathOf("../.."), command, env),
      second: await startOnce(pathOf("../.."), command, env),
    };
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Starts the service, requests the landing page when the service is ready, and stops the service. All times count from
 * the start of the process.
 */
async function startOnce(root: string, command: string[], env: Record<string, string>) {
  const port = String(await findFreePort());
  const startedAt = performance.now();
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...env, NODE_ENV: "production", PORT: port },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    let output = "";
    for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      output += chunk;
      if (output.includes("is ready")) break;
    }
    if (!output.includes("is ready")) throw new Error(`the service did not start:\n${output}`);
    const readyMs = performance.now() - startedAt;
    child.stdout.resume();
    const [page] = (await once(get(`http://127.0.0.1:${port}/`, { agent: false }), "response")) as [
      IncomingMessage,
    ];
    await page.resume().toArray();
    if (page.statusCode !== 200) throw new Error(`the landing page answered ${page.statusCode}`);
    return { readyMs, pageMs: performance.now() - startedAt };
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

/** Measures the first turn of a new service, relative to the turns around the hundredth. */
async function measureFirstTurn({ variables }: Rig): Promise<Row> {
  const service = await startService(variables);
  try {
    const subject = describeService(service);
    const times: number[] = [];
    for (let turn = 0; turn < WARM + 5; turn++)
      times.push((await playTurn(subject, { tools: 1 })).completedMs);
    const warmMs = median(times.slice(WARM - 5));
    const firstMs = times[0] ?? 0;
    return {
      what: "first turn after the start, relative to the hundredth",
      unit: "×",
      value: firstMs / warmMs,
      target: { atMost: 2 },
      behind: { firstMs, warmMs },
    };
  } finally {
    await service.close();
  }
}

export const startUpMeasurement: Measurement = { name: "start", seconds: 30, measure: measureStartUp };
