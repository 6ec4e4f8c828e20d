import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { parseJson } from "../embedded/parse-json.ts";
import {
  checkpointBodySchema,
  type EngineEvent,
  INTERNAL_EVENTS,
  registerBodySchema,
  sendEventBodySchema,
} from "../embedded/protocol.ts";
import { toEvents } from "../embedded/triggers/receive-events.ts";
import { cancelsRun, createRegistry, type Registry } from "../embedded/triggers/registry.ts";
import { hashSigningKey } from "../served/hash-signing-key.ts";
import type { Mode } from "./call-app.ts";
import {
  cancelRun,
  closePlayer,
  createPlayer,
  forgetRuns,
  type Player,
  satisfyWaits,
  startRun,
} from "./create-player.ts";
import type { ChooseDeliveryFault } from "./delivery-fault.ts";
import { isOpen, recordStep, type StandInRun } from "./stand-in-run.ts";

/** The real server's limit for the size of a run's state in a call. */
const STATE_BYTES_MAX = 4 * 1_024 * 1_024 - 1_024;
const EVENT_KEY = "event-key";
const SIGNING_KEY = `signkey-test-${"5e".repeat(32)}`;

const locationsSchema = z.object({
  functions: z.array(
    z.object({
      id: z.string(),
      steps: z.object({ step: z.object({ runtime: z.object({ url: z.string() }) }) }),
    }),
  ),
});

/** What a test may change while the stand-in runs. */
export type StandInSettings = {
  chooseDeliveryFault: ChooseDeliveryFault;
  /** Changes the events of one request before they arrive, for example reorders, repeats or drops them. */
  deliver: (events: EngineEvent[]) => EngineEvent[];
  /** Size limit of a run's state in a call. If the state is larger, the SDK has to read it from the API. */
  stateBytesMax: number;
  /** Whether the server answers registrations with an error. */
  refusesRegistration: boolean;
};

export type InngestStandIn = Awaited<ReturnType<typeof startInngestStandIn>>;

type Answered = { status: number; body: unknown };

const answer = (body: unknown, status = 200): Answered => ({ status, body });
const NOT_FOUND = answer({ error: "not found", status: 404 }, 404);

/** The stand-in's memory. */
type Memory = {
  player: Player;
  settings: StandInSettings;
  registry: Registry | undefined;
  /** Maps the app's id of a function to the function's URL and the server's own id for the function. */
  locations: Map<string, { url: string; uuid: string }>;
  /** Ids of the events that have arrived. A second event with the same id is ignored. */
  seen: Set<string>;
  /** The status codes with which the stand-in answered checkpoints, in order. */
  checkpoints: number[];
  /** Number of requests in which the SDK read a run's state. */
  stateReads: number;
};

const defaultSettings = (): StandInSettings => ({
  chooseDeliveryFault: () => undefined,
  deliver: (events) => events,
  stateBytesMax: STATE_BYTES_MAX,
  refusesRegistration: false,
});

/**
 * Starts a stand-in for an Inngest server, for tests. Over real HTTP it accepts registrations and events, calls the
 * functions with signed requests, and drives each run in one of the two modes of a real server. It keeps everything in
 * memory, and uses the machine's clock. Both modes follow the SDK's own requests and the server's public code.
 *
 * @param options.backoffMs delay after the first failed attempt if the app names no time. It doubles with every
 * attempt.
 */
export async function startInngestStandIn(options: { mode?: Mode; backoffMs?: number } = {}) {
  const { mode = "checkpointing", backoffMs = 20 } = options;
  const settings = defaultSettings();
  const locations: Memory["locations"] = new Map();
  const player = createPlayer({
    mode,
    backoffMs,
    signingKey: SIGNING_KEY,
    readStateBytesMax: () => settings.stateBytesMax,
    chooseDeliveryFault: (call) => settings.chooseDeliveryFault(call),
    emit: (event) => arrive(memory, event),
    locate(functionId) {
      const location = locations.get(functionId);
      if (!location) throw new Error(`"${functionId}" is not registered.`);
      return location;
    },
  });
  const memory: Memory = {
    player,
    settings,
    locations,
    registry: undefined,
    seen: new Set(),
    checkpoints: [],
    stateReads: 0,
  };
  const server = createServer((request, response) => void respond(memory, request, response));
  const listen = (port: number) =>
    new Promise<void>((done, fail) => server.once("error", fail).listen(port, "127.0.0.1", done));
  await listen(0);
  // The cast is safe because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;

  /** Loses all state, like a server without durable storage that is killed and restarted. */
  function loseState() {
    forgetRuns(player);
    memory.seen.clear();
    memory.registry = undefined;
  }

  return {
    /** The environment variables with which an app uses this server. */
    variables: {
      INNGEST_BASE_URL: `http://127.0.0.1:${port}`,
      INNGEST_EVENT_KEY: EVENT_KEY,
      INNGEST_SIGNING_KEY: SIGNING_KEY,
    },
    /** Changes the settings; without an argument, restores the defaults. */
    set: (change: Partial<StandInSettings> = defaultSettings()) => void Object.assign(settings, change),
    /** Delivers events that the setting `deliver` has held back, or delivers events again. */
    arrive: (events: EngineEvent[]) => {
      for (const event of events) arrive(memory, event);
    },
    checkpoints: memory.checkpoints,
    readStateReads: () => memory.stateReads,
    faults: player.faults,
    forget: () => forgetRuns(player),
    loseState,
    /** Ends the server, which loses all state, like a killed server without durable storage. */
    async stop() {
      loseState();
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
    /** Starts an ended server again, at the same address. */
    restart: () => listen(port),
    isRegistered: () => memory.registry !== undefined,
    /**
     * Returns the runs of a function, oldest first. `functionId` is the function's id without the app's name as a
     * prefix.
     */
    runsOf: (functionId: string): StandInRun[] =>
      [...player.runs.values()].filter(({ fn }) => fn.id.endsWith(`-${functionId}`)),
    /** Starts a function as its cron does. */
    tick(functionId: string) {
      const fn = memory.registry?.all().find(({ id }) => id.endsWith(`-${functionId}`));
      if (!fn) throw new Error(`"${functionId}" is not registered.`);
      const data = { cron: fn.crons[0]?.expression };
      begin(memory, fn.id, { id: randomUUID(), name: INTERNAL_EVENTS.timer, data, ts: Date.now() });
    },
    async close() {
      server.closeAllConnections();
      await closePlayer(player);
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

/** Applies an event: ends waits, cancels runs, starts runs. */
function arrive(memory: Memory, event: EngineEvent): void {
  const { player, registry } = memory;
  satisfyWaits(player, event);
  const nowMs = Date.now();
  for (const run of player.runs.values())
    if (isOpen(run) && cancelsRun(run.fn, event, run.event, run.startedAtMs, nowMs)) cancelRun(run);
  for (const { functionId } of registry?.planRuns(event) ?? []) begin(memory, functionId, event);
}

function begin({ player, registry }: Memory, functionId: string, event: EngineEvent): void {
  const fn = registry?.find(functionId);
  if (!fn) throw new Error(`"${functionId}" is not registered.`);
  startRun(player, fn, event);
}

async function respond(memory: Memory, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { status, body } = await route(memory, request, parseJson(Buffer.concat(chunks).toString())).catch(
    (error: unknown) => {
      memory.player.faults.push(error);
      return answer({ error: String(error), status: 500 }, 500);
    },
  );
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function route(memory: Memory, request: IncomingMessage, body: unknown): Promise<Answered> {
  const { pathname } = new URL(request.url ?? "/", "http://stand-in");
  const [, key] = /^\/e\/(.+)$/.exec(pathname) ?? [];
  if (key !== undefined) {
    const seed = request.headers["x-inngest-event-id-seed"];
    return key === EVENT_KEY
      ? receive(memory, body, typeof seed === "string" ? seed : null)
      : answer({ error: "Event key not found", status: 401 }, 401);
  }
  if (request.headers.authorization !== `Bearer ${hashSigningKey(SIGNING_KEY)}`)
    return answer({ error: "unauthorized", status: 401 }, 401);
  if (pathname === "/fn/register") return register(memory, body);
  if (/^\/v1\/apps\/[^/]+\/functions$/.test(pathname))
    return answer(memory.registry?.all().map(({ id }) => ({ id })) ?? null);
  const [, checkpointed] = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(pathname) ?? [];
  if (checkpointed) return checkpoint(memory, checkpointed, body);
  const [, runId, what] = /^\/v0\/runs\/([^/]+)\/(actions|batch)$/.exec(pathname) ?? [];
  return runId && what ? readState(memory, runId, what) : NOT_FOUND;
}

function register(memory: Memory, body: unknown): Answered {
  const { locations, settings } = memory;
  if (settings.refusesRegistration) return answer({ error: "not now", status: 503 }, 503);
  memory.registry = createRegistry(registerBodySchema.parse(body).functions);
  for (const { id, steps } of locationsSchema.parse(body).functions)
    locations.set(id, { url: steps.step.runtime.url, uuid: locations.get(id)?.uuid ?? randomUUID() });
  return answer({ ok: true, status: 200, modified: true });
}

/** Accepts events and delivers them later; an event with a repeated id is accepted and ignored. */
function receive(memory: Memory, body: unknown, seed: string | null): Answered {
  const { seen, settings } = memory;
  const payloads = sendEventBodySchema.parse(body);
  const events = toEvents(Array.isArray(payloads) ? payloads : [payloads], seed, Date.now());
  const fresh = events.filter(({ id }) => !seen.has(id) && seen.add(id));
  const delivered = settings.deliver(fresh);
  setImmediate(() => {
    for (const event of delivered) arrive(memory, event);
  });
  return answer({ ids: events.map(({ id }) => id), status: 200 });
}

/**
 * Records the steps that a call reports, even if the call is outdated, because the steps have run. A call is outdated
 * if its run has ended or if a newer call has replaced it. An outdated call gets 409, which stops it.
 */
function checkpoint(memory: Memory, runId: string, body: unknown): Answered {
  const { player, locations, checkpoints } = memory;
  const parsed = checkpointBodySchema.extend({ request_id: z.string(), fn_id: z.string() }).parse(body);
  const run = player.runs.get(runId);
  const item = player.items.get(parsed.qi_id);
  if (!run || !item || item.run !== run || parsed.fn_id !== locations.get(run.fn.id)?.uuid) return NOT_FOUND;
  for (const step of parsed.steps) recordStep(run, step.id, { data: step.data ?? null });
  const isStale = !isOpen(run) || item.ticket.requestId !== parsed.request_id;
  if (!isStale) item.attempt = 0;
  checkpoints.push(isStale ? 409 : 200);
  return isStale ? answer({ error: "stale dispatch" }, 409) : answer({ data: {} });
}

function readState(memory: Memory, runId: string, what: string): Answered {
  const run = memory.player.runs.get(runId);
  if (!run) return NOT_FOUND;
  memory.stateReads++;
  return answer(what === "batch" ? [run.event] : Object.fromEntries(run.steps));
}
