import { sql } from "drizzle-orm";
import { Inngest, type InngestFunction } from "inngest";
import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { embeddedClientOptions } from "./client-options.ts";
import type { EngineClock } from "./clock.ts";
import {
  createEmbeddedEngine,
  type EmbeddedEngine,
  type EmbeddedEngineOptions,
} from "./create-embedded-engine.ts";

/** A clock that moves only when `advance` is called. `setWall` moves only the time that `wallNow` returns. */
export type ManualClock = EngineClock & { advance: (ms: number) => void; setWall: (byMs: number) => void };

/** Creates a clock. By default, it starts at a whole minute. `advance` fires the timers that become due, in order. */
export function createManualClock(startMs = Date.UTC(2026, 0, 5, 12)): ManualClock {
  let nowMs = startMs;
  let wallAheadMs = 0;
  const timers = new Set<{ dueAtMs: number; ring: () => void }>();
  return {
    now: () => nowMs,
    wallNow: () => nowMs + wallAheadMs,
    setWall(byMs) {
      wallAheadMs += byMs;
    },
    schedule(ring, delayMs) {
      // A timer may be due already, because a test can advance the clock between a commit and the alarm that follows.
      if (delayMs <= 0) {
        const soon = setImmediate(ring);
        return () => clearImmediate(soon);
      }
      const timer = { dueAtMs: nowMs + delayMs, ring };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers]
          .filter((timer) => timer.dueAtMs <= endMs)
          .sort((a, b) => a.dueAtMs - b.dueAtMs);
        if (!next) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.dueAtMs);
        next.ring();
      }
      nowMs = endMs;
    },
  };
}

/** Waits until a condition holds, at most a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Creates a promise that a step awaits until the test resolves it. */
export const createGate = () => Promise.withResolvers<void>();

export const quietLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** An engine that a test can cut off from its database, as if its process had died. */
export type TestProcess = {
  engine: EmbeddedEngine;
  client: Inngest;
  clock: ManualClock;
  start: (functions: InngestFunction.Any[]) => Promise<void>;
  /** Cuts the engine off: statements that it sends after this are neither executed nor answered. */
  crash: () => void;
  isCrashed: () => boolean;
  /**
   * Waits for statements that were sent before the crash. A real embedded database would finish them before its next
   * start.
   */
  drained: () => Promise<void>;
  /** `breakDatabase(true)` makes every statement of this engine fail, until `breakDatabase(false)`. */
  breakDatabase: (isBroken: boolean) => void;
  statementCount: () => number;
};

/** Creates an engine and its client. Each such pair acts as a separate process on the shared database. */
export function createTestProcess(
  db: Database,
  options: Partial<EmbeddedEngineOptions> & {
    clock?: ManualClock;
    /** Number of statements until the engine crashes. The last one is executed, but its answer is lost. */
    statementsToLive?: number;
    onExchange?: (path: string, status: number) => void;
  } = {},
): TestProcess {
  const { clock = createManualClock(), onExchange, statementsToLive, ...engineOptions } = options;
  let statements = 0;
  let isDead = false;
  let isBroken = false;
  const sent = new Set<Promise<unknown>>();
  const send = (statement: Parameters<Database["execute"]>[0]) => {
    const answer = Promise.resolve(db.execute(statement));
    sent.add(answer);
    const forget = () => sent.delete(answer);
    answer.then(forget, forget);
    return answer;
  };
  const execute = (statement: Parameters<Database["execute"]>[0]) => {
    statements++;
    if (isBroken) return Promise.reject(new Error("connection lost"));
    if (isDead) return new Promise(() => {});
    if (statements !== statementsToLive) return send(statement);
    isDead = true;
    return send(statement).then(() => new Promise(() => {}));
  };
  // The cast is safe because the engine uses only `execute`.
  const own = { execute } as unknown as Database;
  const engine = createEmbeddedEngine({
    db: own,
    logger: quietLogger,
    clock,
    backoff: (attempt) => 1_000 * 2 ** attempt,
    isSoleExecutor: true,
    ...engineOptions,
  });
  const observed: typeof fetch = async (input, init) => {
    const response = await engine.fetch(input, init);
    onExchange?.(new URL(new Request(input, init).url).pathname, response.status);
    return response;
  };
  const client = new Inngest({ id: "test", ...embeddedClientOptions({ fetch: observed }, quietLogger) });
  return {
    engine,
    client,
    clock,
    start: (functions) => engine.start({ client, functions }),
    crash: () => {
      isDead = true;
    },
    isCrashed: () => isDead,
    drained: async () => {
      await Promise.allSettled(sent);
    },
    breakDatabase: (value) => {
      isBroken = value;
    },
    statementCount: () => statements,
  };
}

/** The fields of a run that tests compare. */
export type RunView = {
  functionId: string;
  state: string;
  output: unknown;
  error: { message: string } | null;
};

/** Reads all runs from the database, oldest first. */
export async function readRuns(db: Database): Promise<RunView[]> {
  const result = await db.execute(
    sql`select function_id as "functionId", state, output, error from engine_runs order by created_at, id`,
  );
  return (result as unknown as { rows: RunView[] }).rows;
}

/** Whether there are runs and all of them have ended. */
export async function isQuiet(db: Database): Promise<boolean> {
  const runs = await readRuns(db);
  return runs.length > 0 && runs.every(({ state }) => state !== "running" && state !== "waiting");
}

/** Counts the parked runs. */
export async function countWaiting(db: Database): Promise<number> {
  return (await readRuns(db)).filter(({ state }) => state === "waiting").length;
}

/**
 * Empties the engine's tables. A statement of the test before may still be in progress if its connection was lost, and
 * `truncate`, which locks whole tables, could deadlock with it. So the rows are deleted. Steps are deleted with their
 * runs.
 */
export async function clearEngine(db: Database): Promise<void> {
  for (const table of ["engine_runs", "engine_events", "engine_executors"])
    await db.execute(sql`delete from ${sql.identifier(table)}`);
}
