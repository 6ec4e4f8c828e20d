import { setTimeout as sleep } from "node:timers/promises";
import { type RunningService, startService } from "../../fixtures/service.ts";
import { parkTurns } from "../park-turn.ts";
import { playTurns } from "../play-turn.ts";
import { readCpuMs } from "../process-stats.ts";
import { readMemoryUsage } from "../read-memory-usage.ts";
import { describeService, observeWith, type Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const TURNS = 1_000;
const WARM_UP = 60;
const IN_FLIGHT = 8;
const STARTS = 3;
/** How long the idle service is measured. In this time, each job that is scheduled every minute runs once. */
const IDLE_MS = 60_000;
/** Time before the measurement, in which the engine does its housekeeping and idle connections are closed. */
const SETTLE_MS = 20_000;
const MB = 1024 * 1024;

/** Measures the costs of 1,000 parked turns, which wait for a person: CPU, memory, and a longer start. */
async function measureParked(rig: Rig): Promise<Row[]> {
  const variables = { ...rig.variables, NODE_OPTIONS: observeWith("report-memory.ts") };
  const open = async (dataDir?: string) => startService(variables, dataDir === undefined ? {} : { dataDir });
  let few = await open();
  let many = await open();
  try {
    for (const service of [few, many]) {
      await playTurns(describeService(service), { tools: 1 }, WARM_UP, IN_FLIGHT);
      await parkTurns(service, WARM_UP, IN_FLIGHT);
    }
    await few.stop();
    const before = await observe(many);
    await parkTurns(many, TURNS, IN_FLIGHT);
    const after = await observe(many);
    await many.stop();
    const starts = { few: [] as number[], many: [] as number[] };
    const start = async (into: number[], { dataDir }: RunningService) => {
      const fromMs = performance.now();
      const service = await open(dataDir);
      into.push(performance.now() - fromMs);
      await service.stop();
      return service;
    };
    for (let nth = 0; nth < STARTS; nth++) {
      few = await start(starts.few, few);
      many = await start(starts.many, many);
    }
    return [
      {
        what: `CPU of the idle process with ${TURNS} parked turns vs with hardly any`,
        unit: "×",
        value: after.cpuMs / before.cpuMs,
        target: { atMost: 1.5 },
        behind: { beforeMs: before.cpuMs, afterMs: after.cpuMs, overMs: IDLE_MS },
      },
      {
        what: `memory held for ${TURNS} parked turns (heap and buffers)`,
        unit: "MB",
        value: (after.heldBytes - before.heldBytes) / MB,
        target: { atMost: (TURNS * 20) / 1024 },
        behind: { beforeMb: before.heldBytes / MB, afterMb: after.heldBytes / MB },
      },
      {
        what: `start with ${TURNS} parked turns vs with hardly any`,
        unit: "×",
        value: median(starts.many) / median(starts.few),
        target: { atMost: 1.2 },
        behind: { fewMs: median(starts.few), manyMs: median(starts.many) },
      },
    ];
  } finally {
    await few.close();
    await many.close();
  }
}

/** Measures the CPU time and memory of an idle service, after a pause in which it finishes its earlier work. */
async function observe(service: RunningService) {
  await sleep(SETTLE_MS);
  const cpuFromMs = readCpuMs(service.pid ?? 0);
  await sleep(IDLE_MS);
  const cpuMs = readCpuMs(service.pid ?? 0) - cpuFromMs;
  const { heapUsed, external } = await readMemoryUsage(service);
  return { cpuMs, heldBytes: heapUsed + external };
}

export const parkedMeasurement: Measurement = { name: "parked", seconds: 300, measure: measureParked };
