import { randomBytes } from "node:crypto";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { type RunningService, startService } from "../../fixtures/service.ts";
import { playInFlight, playTurn, playTurns } from "../play-turn.ts";
import { repeat } from "../repeat.ts";
import { describeService, type Rig } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";

const WARM_UP = 40;
const PAIRS = 30;

/**
 * Measures turns with a Postgres that flushes each commit to disk, relative to turns with a Postgres that never
 * flushes.
 */
async function measureDurability({ variables }: Rig): Promise<Row[]> {
  const started: (() => Promise<unknown>)[] = [];
  const start = async (isDurable: boolean): Promise<Subject> => {
    const postgres = await startTestPostgres({ isDurable });
    started.push(postgres.stop);
    const service: RunningService = await startService({
      ...variables,
      DATABASE_URL: postgres.url,
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    });
    started.push(() => service.close());
    const subject = describeService(service);
    await playTurns(subject, { tools: 1 }, WARM_UP, 2);
    return subject;
  };
  try {
    const [durable, volatile] = [await start(true), await start(false)];
    const pairs = await repeat({ rounds: PAIRS, secondsMax: 5 }, async () => {
      const flushed = await playTurn(durable, { tools: 1 });
      return [flushed.completedMs, (await playTurn(volatile, { tools: 1 })).completedMs] as const;
    });
    const load = { inFlight: 16, forMs: 2_000 };
    const rates: (readonly [number, number])[] = [];
    for (let round = 0; round < 3; round++)
      rates.push([
        await playInFlight(durable, { tools: 1 }, load),
        await playInFlight(volatile, { tools: 1 }, load),
      ]);
    return [
      compare("turn time with fsync, relative to without", pairs),
      compare("turns per second with fsync, 16 in flight, relative to without", rates),
    ];
  } finally {
    for (const stop of started.toReversed()) await stop();
  }
}

const compare = (what: string, pairs: readonly (readonly [number, number])[]): Row => ({
  what,
  value: medianRatio(pairs),
  unit: "×",
  behind: {
    durable: median(pairs.map(([durable]) => durable)),
    volatile: median(pairs.map(([, volatile]) => volatile)),
  },
});

export const durabilityMeasurement: Measurement = {
  name: "durability",
  seconds: 40,
  measure: measureDurability,
};
