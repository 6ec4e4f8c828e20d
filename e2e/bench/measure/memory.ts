import { playTurns } from "../play-turn.ts";
import { readHeld } from "../read-held.ts";
import type { Rig } from "../rig.ts";
import type { Measurement, Row } from "../types.ts";

const SESSIONS = 300;
const MB = 1024 * 1024;

/** What 300 finished sessions leave in memory, after garbage collection vs what the bare loop keeps of as many. */
async function measureGrowth(rig: Rig): Promise<Row[]> {
  const { subject, baseline } = rig;
  const serviceBefore = await readHeld(rig.service);
  const bareBefore = await rig.readBareMemory();
  await playTurns(subject, { tools: 1 }, SESSIONS, 8);
  await playTurns(baseline, { tools: 1 }, SESSIONS, 8);
  const [service, bare] = [await readHeld(rig.service), await rig.readBareMemory()];
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

export const memoryMeasurement: Measurement = { name: "memory", seconds: 30, measure: measureGrowth };
