import { randomUUID } from "node:crypto";
import type { Inngest, InngestFunction } from "inngest";
import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createAlarms } from "./alarms.ts";
import { type EngineClock, systemClock } from "./clock.ts";
import { createBatcher } from "./create-batcher.ts";
import { createEngineStore, type NewRun } from "./engine-store/engine-store.ts";
import { parseJson } from "./parse-json.ts";
import {
  type EngineEvent,
  type FunctionConfig,
  INTERNAL_EVENTS,
  registerBodySchema,
  sendEventBodySchema,
} from "./protocol.ts";
import { type Backoff, createBackoff } from "./run/backoff.ts";
import { createExecutor, type Executor } from "./run/executor.ts";
import { recordCheckpoint } from "./run/record-checkpoint.ts";
import { createSlots } from "./run/slots.ts";
import { serveInProcess } from "./serve-in-process.ts";
import { nextCronTime } from "./triggers/cron.ts";
import { receiveEvents, toEvents } from "./triggers/receive-events.ts";
import { createRegistry, type RegisteredFunction, type Registry } from "./triggers/registry.ts";

export type EmbeddedEngineOptions = {
  db: Database;
  logger: Logger;
  /** True when no other process uses this database (the embedded one): all open runs are taken up at once. */
  isSoleExecutor?: boolean;
  clock?: EngineClock;
  backoff?: Backoff;
  /** Calls of functions at a time. */
  concurrency?: number;
  /** How long a silent executor keeps its runs. */
  leaseMs?: number;
  /** Between two looks at the leases and the old rows. */
  sweepMs?: number;
  /** How long ended runs and event ids are kept. */
  keepMs?: number;
};

/**
 * Plays Inngest functions in this process, its state in the service's database. It plays run, parallel steps, sleep,
 * waitForEvent, sendEvent, invoke, retries, onFailure, cancelOn, cron (five fields, UTC), idempotency and concurrency;
 * functions that ask for more are refused. Parallel steps are waited for together, also in `race` mode.
 */
export type EmbeddedEngine = {
  /** The network of the Inngest client: see {@link embeddedClientOptions}. */
  fetch: typeof fetch;
  /**
   * Registers the functions through the SDK's own handler and takes up every open run, timer, wait and cron.
   *
   * @throws when a function uses what this engine does not play, and when the database fails.
   */
  start: (served: { client: Inngest.Any; functions: InngestFunction.Any[] }) => Promise<void>;
  /** Runs no new steps; those under way end, or are left (after `graceMs`) for the next start to repeat. */
  stop: (options: { graceMs: number }) => Promise<void>;
  isHealthy: () => boolean;
};

type Running = { registry: Registry; executor: Executor };

const PRUNE_EVERY_MS = 60_000;

const json = (body: unknown, status = 200) => Response.json(body, { status });
/** Of a checkpoint's answer the SDK reads the status alone, so that one of each will do. */
const RECORDED = new Response(null, { status: 200 });
const STALE = new Response(null, { status: 409 });

/** Makes an engine that is not yet started. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  const { db, logger, isSoleExecutor = false, clock = systemClock, backoff = createBackoff() } = options;
  const { concurrency = 256, leaseMs = 15_000, sweepMs = 5_000, keepMs = 24 * 3_600_000 } = options;
  const store = createEngineStore(db, `exe_${randomUUID()}`, clock.now);
  const alarms = createAlarms(clock);
  /** Events that were ever waited for; complete only where nobody else writes waits. */
  const awaited = new Set<string>();
  const isAwaited = (eventName: string) => !isSoleExecutor || awaited.has(eventName);
  let registered: FunctionConfig[] = [];
  let running: Running | undefined;
  let isStopped = false;
  let leaseUntilMs = 0;
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  let mayClaimAtMs = Number.NEGATIVE_INFINITY;

  async function receive(events: EngineEvent[], planRuns?: (event: EngineEvent) => NewRun[]) {
    if (!running) throw new Error("The embedded engine is not started.");
    const { registry, executor } = running;
    const { change, receipt } = await receiveEvents(
      { store, registry, isAwaited, nowMs: clock.now() },
      events,
      planRuns,
    );
    executor.follow(change, receipt);
  }

  /** Events that come at a time go into one statement. */
  const receiveTogether = createBatcher((events: EngineEvent[]) => receive(events));

  async function sendEvents(body: unknown, seed: string | null) {
    if (!running || isStopped) return json({ ids: [], status: 503, error: "The engine is not running" }, 503);
    const parsed = sendEventBodySchema.safeParse(body);
    if (!parsed.success) return json({ ids: [], status: 400, error: "Cannot process event payload" }, 400);
    const payloads = Array.isArray(parsed.data) ? parsed.data : [parsed.data];
    const events = toEvents(payloads, seed, clock.now());
    await receiveTogether(events);
    return json({ ids: events.map(({ id }) => id), status: 200 });
  }

  async function checkpoint(runId: string, body: unknown) {
    if (!running || isStopped) return STALE;
    const outcome = await recordCheckpoint(store, runId, body);
    if (outcome === "malformed") return json({ error: "malformed checkpoint" }, 400);
    // A refusal after the record is how a call is ended between two steps.
    const goesOn = outcome === "recorded" && !running.executor.isStopping();
    return goesOn ? RECORDED : STALE;
  }

  /** The SDK passes an address and a text, so nothing needs to be wrapped and read again. */
  async function answer(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    if (input instanceof Request || typeof init.body !== "string") return json({ error: "not found" }, 404);
    const { pathname } = new URL(input);
    const body = parseJson(init.body);
    if (pathname.startsWith("/e/"))
      return sendEvents(body, new Headers(init.headers).get("x-inngest-event-id-seed"));
    const checkpointed = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(pathname)?.[1];
    if (checkpointed) return checkpoint(decodeURIComponent(checkpointed), body);
    if (pathname !== "/fn/register") return json({ error: "not found" }, 404);
    const parsed = registerBodySchema.safeParse(body);
    if (!parsed.success) return json({ status: 400, error: parsed.error.message }, 400);
    registered = parsed.data.functions;
    return json({ status: 200, modified: true });
  }

  function setCron(fn: RegisteredFunction, at: number, afterMs: number) {
    const cron = fn.crons[at];
    const dueAtMs = cron && nextCronTime(cron.schedule, afterMs);
    if (!cron || dueAtMs === undefined) return;
    const id = `cron:${fn.id}:${at}:${dueAtMs}`;
    const event = { id, name: INTERNAL_EVENTS.timer, data: { cron: cron.expression }, ts: dueAtMs };
    alarms.set(`cron:${fn.id}:${at}`, dueAtMs, () => {
      setCron(fn, at, Math.max(dueAtMs, clock.now()));
      receive([event], () => [{ id: randomUUID(), functionId: fn.id, eventId: id }]).catch((error: unknown) =>
        logger.error({ err: error, functionId: fn.id }, "A cron could not be started"),
      );
    });
  }

  /** Keeps the lease, takes over the runs of executors that are gone, prunes old rows. */
  async function sweep({ registry, executor }: Running, takeAll: boolean) {
    const nowMs = clock.now();
    // Where its own lease ran out, those of the others say nothing either: they first get the time to renew.
    if (await store.renewLease(leaseMs)) mayClaimAtMs = nowMs + leaseMs;
    leaseUntilMs = nowMs + leaseMs;
    const functionIds = registry.all().map(({ id }) => id);
    if (takeAll || (!isSoleExecutor && nowMs >= mayClaimAtMs))
      executor.adopt(await store.claimRuns(functionIds, takeAll));
    if (nowMs - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = nowMs;
    await store.prune(keepMs);
  }

  function setSweep(current: Running) {
    alarms.set("sweep", clock.now() + sweepMs, () => {
      sweep(current, false)
        .catch((error: unknown) => logger.error({ err: error }, "The engine's sweep failed"))
        .finally(() => current.executor.isStopping() || setSweep(current));
    });
  }

  async function start({ client, functions }: { client: Inngest.Any; functions: InngestFunction.Any[] }) {
    if (running) throw new Error("The embedded engine is started already.");
    const handler = serveInProcess({ client, functions });
    const answer = await handler({ method: "PUT" });
    if (answer.status !== 200)
      throw new Error(`The embedded engine cannot play these functions: ${answer.body}`);
    const registry = createRegistry(registered);
    const slots = createSlots(concurrency);
    const onWait = (eventName: string) => awaited.add(eventName);
    const executor = createExecutor({
      store,
      registry,
      handler,
      slots,
      alarms,
      clock,
      backoff,
      logger,
      onWait,
    });
    const current = { registry, executor };
    for (const eventName of await store.findAwaitedNames()) awaited.add(eventName);
    running = current;
    await sweep(current, isSoleExecutor);
    for (const fn of registry.all()) for (const at of fn.crons.keys()) setCron(fn, at, clock.now());
    setSweep(current);
  }

  async function stop({ graceMs }: { graceMs: number }) {
    if (!running || isStopped) return;
    const { isQuiet } = await running.executor.stop(graceMs);
    isStopped = true;
    // With calls still under way, the lease runs out by itself rather than inviting others to the same steps.
    if (isQuiet)
      await store.releaseLease().catch((error: unknown) => logger.warn({ err: error }, "Lease not released"));
  }

  return {
    fetch: answer,
    start,
    stop,
    isHealthy: () => running !== undefined && !running.executor.isStopping() && clock.now() < leaseUntilMs,
  };
}
