import { waitUntil } from "../../fixtures/service.ts";
import { playTurns } from "../play-turn.ts";
import type { Rig } from "../rig.ts";
import type { Measurement, Row } from "../types.ts";

const SESSIONS = 300;
const MB = 1024 * 1024;

/** What 300 finished sessions leave in memory, after garbage collection vs what the bare loop keeps of as many. */
async function measureGrowth(rig: Rig): Promise<Row[]> {
  const { subject, baseline } = rig;
  const serviceBefore = await readService(rig);
  const bareBefore = await rig.readBareMemory();
  await playTurns(subject, { tools: 1 }, SESSIONS, 8);
  await playTurns(baseline, { tools: 1 }, SESSIONS, 8);
  const [service, bare] = [await readService(rig), await rig.readBareMemory()];
  const grown = (after: NodeJS.MemoryUsage, before: NodeJS.MemoryUsage) => ({
    rss: (after.rss - before.rss) / MB,
    held: (after.heapUsed + after.external - before.heapUsed - before.external) / MB,
  });
  const [own, beside] = [grown(service, serviceBefore), grown(bare, bareBefore)];
  return [
    {
      what: `memory growth over ${SESSIONS} finished sessions (resident)`,
      unit: "×",
      value: own.rss / Math.max(beside.rss, 1),
      target: { atMost: 0.5 },
      behind: { serviceMb: own.rss, bareMb: beside.rss },
    },
    {
      what: `memory growth over ${SESSIONS} finished sessions (heap and buffers held)`,
      unit: "×",
      value: own.held / Math.max(beside.held, 1),
      behind: { serviceMb: own.held, bareMb: beside.held },
    },
  ];
}

/** The service's memory after a collection, as `observe/report-memory.ts` prints it. */
async function readService({ service }: Rig): Promise<NodeJS.MemoryUsage> {
  const read = () => [...service.output().matchAll(/^bench:memory (.*)$/gm)].map(([, json]) => json ?? "{}");
  const seen = read().length;
  process.kill(service.pid ?? 0, "SIGUSR2");
  await waitUntil(() => read().length > seen, "the service has reported its memory");
  return JSON.parse(read().at(-1) ?? "{}") as NodeJS.MemoryUsage;
}

export const memoryMeasurement: Measurement = { name: "memory", seconds: 30, measure: measureGrowth };
