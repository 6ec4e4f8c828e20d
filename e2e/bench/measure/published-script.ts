import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "../child.ts";
import type { LoadOrder, LoadReport } from "../load/main.ts";
import { planLoads, publishScript } from "../load/publish-script.ts";
import { playTurn } from "../play-turn.ts";
import { readCpuMs } from "../process-stats.ts";
import { repeat } from "../repeat.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio, quantile, sum } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";

const PER_SECOND = 1_000;
const TURNS = 8;
const ROUNDS = 16;
const SECONDS_MAX = 20;
const IN_TIME_MS = 100;
/** How long an otherwise idle server is under load while its CPU time per request is measured. */
const ALONE_MS = 2_000;

/** Loads the scripts of a server while `work` runs. @throws Error if a request failed. */
async function whileLoaded<Value>(
  loader: Child,
  requests: LoadOrder["requests"],
  work: () => Promise<Value>,
): Promise<Value & LoadReport> {
  await loader.ask({ requests, perSecond: PER_SECOND } satisfies LoadOrder);
  const value = await work();
  const report = (await loader.ask("stop")) as LoadReport;
  if (report.errors > 0) throw new Error(`${report.errors} of ${report.sent} requests for scripts failed`);
  return { ...value, ...report };
}

/** Plays turns with one tool call, one after the other. @returns the median of their times. */
async function timeTurns(subject: Subject): Promise<{ turnMs: number }> {
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) times.push((await playTurn(subject, { tools: 1 })).completedMs);
  return { turnMs: median(times) };
}

/** Measures the CPU time per request of an otherwise idle server, in milliseconds, after a first load as a warm-up. */
async function measureCpu(loader: Child, requests: LoadOrder["requests"], pid: number): Promise<number> {
  const loadAlone = () => whileLoaded(loader, requests, async () => ({ done: await sleep(ALONE_MS) }));
  await loadAlone();
  const beforeMs = readCpuMs(pid);
  const { sent } = await loadAlone();
  return (readCpuMs(pid) - beforeMs) / sent;
}

/**
 * Measures turns while visitors load a published script. The result is relative to turns without visitors, and to turns
 * while visitors load the same script from a plain server.
 */
async function measurePublishedScript({ subject }: Rig): Promise<Row[]> {
  const [loader, plain] = [await startChild("./load/main.ts"), await startChild("./load/plain-server.ts")];
  try {
    const { moving, pinned } = await publishScript(subject);
    await plain.ask(await (await fetch(moving)).text());
    const own = await planLoads([moving, pinned]);
    const others = await planLoads([`http://127.0.0.1:${plain.ready.port}/script.js`]);
    const cpu = [await measureCpu(loader, own, subject.pid), await measureCpu(loader, others, plain.pid)];
    const rounds = await repeat({ rounds: ROUNDS, secondsMax: SECONDS_MAX }, async () => ({
      loaded: await whileLoaded(loader, own, () => timeTurns(subject)),
      plainLoaded: await whileLoaded(loader, others, () => timeTurns(subject)),
      calm: await timeTurns(subject),
    }));
    return report(rounds, cpu);
  } finally {
    await loader.stop();
    await plain.stop();
  }
}

type Round = Record<"loaded" | "plainLoaded", LoadReport & { turnMs: number }> & { calm: { turnMs: number } };

function report(rounds: Round[], [serviceCpuMs = 0, plainCpuMs = 0]: number[]): Row[] {
  const answers = rounds.flatMap(({ loaded }) => loaded.timesMs);
  const inTime = answers.filter((ms) => ms <= IN_TIME_MS).length;
  const compare = (what: string, baseline: "plainLoaded" | "calm", atMost?: number): Row => ({
    what,
    value: medianRatio(rounds.map((round) => [round.loaded.turnMs, round[baseline].turnMs])),
    unit: "×",
    ...(atMost !== undefined && { target: { atMost } }),
    behind: {
      loadedMs: median(rounds.map(({ loaded }) => loaded.turnMs)),
      baselineMs: median(rounds.map((round) => round[baseline].turnMs)),
    },
  });
  const rate = `a published script loaded ${PER_SECOND.toLocaleString("en")} times per second`;
  return [
    compare(`turn time with ${rate} vs without`, "calm", 1.15),
    compare("the same vs with that load on a plain server", "plainLoaded"),
    {
      what: "CPU per loaded script vs a plain server",
      value: serviceCpuMs / plainCpuMs,
      unit: "×",
      behind: { serviceMs: serviceCpuMs, plainMs: plainCpuMs },
    },
    {
      what: `scripts answered within ${IN_TIME_MS} ms`,
      value: (100 * inTime) / answers.length,
      unit: "%",
      target: { atLeast: 99 },
      behind: {
        p50Ms: median(answers),
        p99Ms: quantile(answers, 0.99),
        requests: sum(rounds.map(({ loaded }) => loaded.sent)),
        errors: sum(rounds.map(({ loaded }) => loaded.errors)),
      },
    },
  ];
}

export const publishedScriptMeasurement: Measurement = {
  name: "published-script",
  seconds: 30,
  measure: measurePublishedScript,
};
