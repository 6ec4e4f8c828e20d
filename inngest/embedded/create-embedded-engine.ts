import { randomUUID } from "node:crypto";
import type { Inngest, InngestFunction } from "inngest";
import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createAlarms } from "./alarms.ts";
import { type EngineClock, systemClock } from "./clock.ts";
import { createBatcher } from "./create-batcher.ts";
import { createEngineApi } from "./engine-api.ts";
import { createEngineStore, type NewRun, type Receipt } from "./engine-store/engine-store.ts";
import { createEngineSweep, type EngineSweep } from "./engine-sweep.ts";
import { type EngineEvent, type FunctionConfig, INTERNAL_EVENTS } from "./protocol.ts";
import { type Backoff, createBackoff } from "./run/backoff.ts";
import { createExecutor, type Executor } from "./run/executor.ts";
import { createSlots } from "./run/slots.ts";
import { serveInProcess } from "./serve-in-process.ts";
import { nextCronTime } from "./triggers/cron.ts";
import { receiveEvents } from "./triggers/receive-events.ts";
import { createRegistry, type RegisteredFunction, type Registry } from "./triggers/registry.ts";

export type EmbeddedEngineOptions = {
  db: Database;
  logger: Logger;
  /** True if no other process uses the database, as with an embedded database. Then `start` claims all open runs at once. */
  isSoleExecutor?: boolean;
  /**
   * The name of this process's database connections. If it is given, other processes claim this executor's runs as soon
   * as the process has ended, and do not wait until the lease expires.
   */
  process?: string;
  clock?: EngineClock;
  backoff?: Backoff;
  /** Maximum number of concurrent function calls. */
  concurrency?: number;
  /** How long an executor keeps its runs without renewing its lease. */
  leaseMs?: number;
  /** Interval between two sweeps, which renew the lease, claim abandoned runs and delete old rows. */
  sweepMs?: number;
  /** How long ended runs and event ids are stored. */
  keepMs?: number;
};

/**
 * Runs Inngest functions in this process and stores their state in the service's database. It supports run, parallel
 * steps, sleep, waitForEvent, sendEvent, invoke, retries, onFailure, cancelOn, cron (five fields, UTC), idempotency and
 * concurrency; `start` refuses functions with other options. A function with parallel steps continues only when all of
 * them have run, also in `race` mode.
 */
export type EmbeddedEngine = {
  /** The `fetch` of the Inngest client: see `embeddedClientOptions`. */
  fetch: typeof fetch;
  /**
   * Registers the functions through the SDK's own handler, and starts their crons. Continues the open runs with their
   * timers and waits. If other processes use the database, runs of a live executor with a valid lease are not continued.
   *
   * @throws when a function uses an option that this engine does not support, and when the database fails.
   */
  start: (served: { client: Inngest.Any; functions: InngestFunction.Any[] }) => Promise<void>;
  /** Starts no new steps and waits up to `graceMs` for steps in progress. `stop` must follow. */
  drain: (options: { graceMs: number }) => Promise<void>;
  /**
   * Starts no new steps and waits up to `graceMs` for steps in progress. The next start repeats steps that did not end.
   */
  stop: (options: { graceMs: number }) => Promise<void>;
  isHealthy: () => boolean;
  /**
   * Plans the run that an event starts. The caller writes the rows of the event and the run in its own statement. Must
   * not be called for events that a function may wait for.
   *
   * @returns undefined if the engine is not running, if the event does not start exactly one run or may cancel runs, or
   * if the run has an idempotency key.
   */
  plan: (event: Pick<EngineEvent, "id" | "name" | "data">) => PlannedEvent | undefined;
};

/**
 * The values that the caller writes for a planned run. `play` plays it; the caller calls it after the commit, unless
 * the function waits for the commit. `settle` tells the engine that the caller knows whether the rows were written.
 */
type PlannedEvent = {
  event: string;
  runId: string;
  functionId: string;
  executorId: string;
  play: () => void;
  settle: () => void;
};

/**
 * A stopped engine keeps its registry and executor, because it still stores events that it accepted before the stop.
 */
type EngineState =
  | { name: "created" }
  | { name: "running" | "stopped"; registry: Registry; executor: Executor; sweep: EngineSweep };

/** If a planned run is not settled within this time, the engine checks whether its rows were written. */
const PLANNED_FOR_MS = 10_000;
const STARTED_NONE: Receipt = { held: true, state: undefined, started: [], woken: [], cancelled: [] };

/** Creates an engine; `start` starts it. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  const { db, logger, isSoleExecutor = false, clock = systemClock, backoff = createBackoff() } = options;
  const { concurrency = 256, leaseMs = 15_000, sweepMs = 5_000, keepMs = 24 * 3_600_000 } = options;
  const executorId = `exe_${randomUUID()}`;
  const store = createEngineStore(db, { executorId, process: options.process }, clock.now);
  const alarms = createAlarms(clock);
  /**
   * Names of events that a run waits for or has waited for. With several executors, names are missing here, because an
   * executor does not see the waits that other executors write.
   */
  const awaited = new Set<string>();
  const isAwaited = (eventName: string) => !isSoleExecutor || awaited.has(eventName);
  let registered: FunctionConfig[] = [];
  let state: EngineState = { name: "created" };

  async function receive(events: EngineEvent[], planRuns?: (event: EngineEvent) => NewRun[]) {
    if (state.name === "created") throw new Error("The embedded engine is not started.");
    const { registry, executor } = state;
    const scene = { store, registry, isAwaited, nowMs: clock.now() };
    const { change, receipt } = await receiveEvents(scene, events, planRuns);
    executor.follow(change, receipt);
  }

  function setCron(fn: RegisteredFunction, index: number, afterMs: number) {
    const cron = fn.crons[index];
    const dueAtMs = cron && nextCronTime(cron.schedule, afterMs);
    if (!cron || dueAtMs === undefined) return;
    const id = `cron:${fn.id}:${index}:${dueAtMs}`;
    const event = { id, name: INTERNAL_EVENTS.timer, data: { cron: cron.expression }, ts: dueAtMs };
    alarms.set(`cron:${fn.id}:${index}`, dueAtMs, () => {
      setCron(fn, index, Math.max(dueAtMs, clock.now()));
      receive([event], () => [{ id: randomUUID(), functionId: fn.id, eventId: id }]).catch((error: unknown) =>
        logger.error({ err: error, functionId: fn.id }, "starting a cron function failed"),
      );
    });
  }

  function setSweep(sweep: EngineSweep, executor: Executor) {
    alarms.set("sweep", clock.now() + sweepMs, () => {
      sweep
        .run(false)
        .catch((error: unknown) => logger.error({ err: error }, "sweep of the engine failed"))
        .finally(() => executor.isStopping() || setSweep(sweep, executor));
    });
  }

  const fetch = createEngineApi({
    store,
    now: clock.now,
    isRunning: () => state.name === "running",
    isStopping: () => state.name !== "created" && state.executor.isStopping(),
    register: (functions) => {
      registered = functions;
    },
    // Events that arrive while a statement stores earlier events are stored together by the next statement.
    receive: createBatcher((events: EngineEvent[]) => receive(events)),
  });

  return {
    fetch,
    async start(served) {
      if (state.name !== "created") throw new Error("The embedded engine is started already.");
      const handler = serveInProcess(served);
      const answer = await handler({ method: "PUT" });
      if (answer.status !== 200)
        throw new Error(`The embedded engine cannot play these functions: ${answer.body}`);
      const registry = createRegistry(registered);
      const executor = createExecutor({
        store,
        registry,
        handler,
        alarms,
        clock,
        backoff,
        logger,
        slots: createSlots(concurrency),
        onWait: (eventName) => awaited.add(eventName),
      });
      const rules = { isSoleExecutor, leaseMs, keepMs };
      const sweep = createEngineSweep({ store, clock, registry, executor, ...rules });
      for (const eventName of await store.findAwaitedNames()) awaited.add(eventName);
      state = { name: "running", registry, executor, sweep };
      await sweep.run(isSoleExecutor);
      for (const fn of registry.all()) for (const index of fn.crons.keys()) setCron(fn, index, clock.now());
      setSweep(sweep, executor);
    },
    async drain({ graceMs }) {
      if (state.name === "running") await state.executor.stop(graceMs);
    },
    async stop({ graceMs }) {
      if (state.name !== "running") return;
      const { isQuiet } = await state.executor.stop(graceMs);
      state = { ...state, name: "stopped" };
      // The lease is kept while calls are in progress. Otherwise another executor would repeat the steps of these calls
      // at once.
      if (isQuiet)
        await store
          .releaseLease()
          .catch((error: unknown) => logger.warn({ err: error }, "releasing the lease failed"));
    },
    plan(payload) {
      if (state.name !== "running" || state.executor.isStopping()) return undefined;
      const { registry, executor } = state;
      const event = { ...payload, ts: clock.now() };
      const [run, ...others] = registry.planRuns(event);
      const isSimple = others.length === 0 && registry.cancellableBy(event.name).length === 0;
      if (!run || !isSimple || run.idempotencyKey !== undefined) return undefined;
      const play = () =>
        executor.follow({ events: [event], runs: [run] }, { ...STARTED_NONE, started: [run.id] });
      // If the answer to the caller's statement is lost after the commit, the caller does not call `settle`. This alarm
      // then plays the run, unless the executor has begun it and continues it.
      const alarm = `planned:${run.id}`;
      alarms.set(alarm, clock.now() + PLANNED_FOR_MS, () => {
        store.load(run.id, 1).then(
          (found) => found && !executor.holds(run.id) && play(),
          (error: unknown) =>
            logger.error({ err: error, functionRunId: run.id }, "looking for a planned run failed"),
        );
      });
      return {
        event: JSON.stringify(event),
        runId: run.id,
        functionId: run.functionId,
        executorId,
        play,
        settle: () => alarms.clear(alarm),
      };
    },
    isHealthy: () => state.name !== "created" && !state.executor.isStopping() && state.sweep.isLeaseHeld(),
  };
}
