import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { type RunningService, startService, userMessage } from "../fixtures/service.ts";
import { findInFiles, makeDataFolder, readExecutions } from "./data-folder.ts";
import type { Acknowledged, Evidence, StatusSample, StreamReading } from "./evidence.ts";
import { monotonicMs } from "./oracle/log-line.ts";
import type { Oracle } from "./oracle/start-oracle.ts";
import type { Random } from "./random.ts";
import { isEngineBusy, type Rows, readRows } from "./read-rows.ts";
import { writeTag } from "./tag.ts";
import { watchProcesses } from "./watch-processes.ts";

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A call that a client makes, and makes again with the same key until it is answered. */
type Ask = { nonce: string; idempotencyKey: string; path: string; body: Record<string, unknown> };

type Created = { sessionId: string; requestId: string; runId: string; statusUrl: string; streamUrl: string };

const QUIET_MAX_MS = 180_000;
const SAMPLE_EVERY_MS = 40;
const LEFT_MAX_MS = 30_000;
const SCHEDULE = { baseMs: 120, factor: 2 };
/** The engine's wait before a step that failed is made again, with the spread that chance gives it. */
const REPEAT_MS = 1_250;
/** What a killed executor played is another's when its lease has run out and somebody has looked. */
const TAKEN_OVER_MS = 30_000;
const TAKEN_UP_AT_ONCE_MS = 4_000;

/** One service with its data, seen by clients that never give up: what a case of the campaign is played in. */
export async function openWorld(place: {
  oracle: Oracle;
  random: Random;
  /** A fresh database, where it is not the embedded one. */
  databaseUrl?: string | undefined;
  /** Ends the database server and starts it again, where the campaign has one of its own. */
  restartDatabase?: (() => Promise<void>) | undefined;
}) {
  const { oracle, random, databaseUrl } = place;
  await oracle.takeLines();
  const dataDir = await makeDataFolder(databaseUrl === undefined);
  const acknowledged: Acknowledged[] = [];
  const unanswered: Ask[] = [];
  const samples: StatusSample[] = [];
  const disturbedAtMs: number[] = [];
  const callbackSecrets = new Map<string, string>();
  const canaries: string[] = [];
  const texts: { name: string; text: string }[] = [];
  const outputs: string[] = [];
  const problems: string[] = [];
  const processes = watchProcesses();
  /** What goes on beside the play: calls that come at their own time. */
  const beside: Promise<unknown>[] = [];
  let variables: Record<string, string> = {};
  let repeatMs = 0;
  let endedAtMs = 0;
  const starts: { fromMs: number; toMs: number }[] = [];
  let service: RunningService | undefined;
  let isSampling = true;
  const sampling = sample();

  const running = (): RunningService => {
    if (!service) throw new Error("the service does not run");
    return service;
  };

  /** A process answers before the code of its pages is loaded; the first page comes when it is. */
  function noteStart(started: RunningService) {
    const start = { fromMs: monotonicMs(), toMs: Number.POSITIVE_INFINITY };
    starts.push(start);
    const end = () => {
      start.toMs = monotonicMs();
    };
    started
      .call("GET", "/")
      .then((answer) => answer.arrayBuffer())
      .then(end, end);
  }

  async function sample(): Promise<void> {
    while (isSampling) {
      await sleep(SAMPLE_EVERY_MS);
      for (const sessionId of new Set(acknowledged.slice(-3).map((one) => one.sessionId))) {
        const fromMs = Date.now();
        const answer = await service
          ?.call("GET", `/api/sessions/${sessionId}/agent/status`)
          .catch(() => undefined);
        const status = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
        if (status) samples.push({ sessionId, fromMs, toMs: Date.now(), turnState: status.turnState });
      }
    }
  }

  async function ask(asked: Ask): Promise<Created | undefined> {
    try {
      const answer = await running().call("POST", asked.path, asked.body);
      const text = await answer.text();
      texts.push({ name: `the answer to ${asked.path}`, text });
      if (answer.status >= 400 && answer.status < 500)
        problems.push(`${asked.path} answered ${answer.status}: ${text}`);
      if (answer.ok) {
        const { nonce, idempotencyKey, body } = asked;
        const created = JSON.parse(text) as Created;
        const { sessionId, requestId, runId } = created;
        const mode = readMode(body);
        acknowledged.push({ sessionId, requestId, runId, mode, nonce, idempotencyKey, atMs: Date.now() });
        return created;
      }
    } catch {
      // The service has gone, or went while it answered: the client does not know whether it was heard.
    }
    unanswered.push(asked);
    return undefined;
  }

  const world = {
    ...{ oracle, random, dataDir, databaseUrl, acknowledged, problems, unanswered },
    restartDatabase: place.restartDatabase,
    service: running,
    processes,
    /** The settings of a service of this world. */
    settings: (fault?: string): Record<string, string> => ({
      ...{ OPENAI_BASE_URL: oracle.modelUrl, SANDBOX: "unconfined", LOG_LEVEL: "info" },
      CALLBACK_RETRY_BASE_MS: String(SCHEDULE.baseMs),
      CALLBACK_RETRY_FACTOR: String(SCHEDULE.factor),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl, DATABASE_DRIVER: "pg" }),
      ...(fault !== undefined && { FAULT: fault, FAULTS_ALLOWED: "1" }),
    }),
    /** Starts the service on this world's data; `fault` is what it will do to itself, `more` its settings from now on. */
    async start(fault?: string, more?: Record<string, string>) {
      variables = more ?? variables;
      service = await startService({ ...world.settings(fault), ...variables }, { dataDir });
      processes.follow(service.pid);
      noteStart(service);
      return service;
    },
    /** Ends the service as its owner would. */
    async stop() {
      processes.look();
      await running().stop();
      endedAtMs = Date.now();
      outputs.push(running().output());
    },
    /** Notes that something was done to the service now, or to what it works with. */
    disturb: () => void disturbedAtMs.push(monotonicMs()),
    async kill() {
      processes.look();
      world.disturb();
      await running().kill();
      world.disturb();
    },
    /** Waits until the service has ended by itself. @returns false when it has not within `withinMs`. */
    async died(withinMs: number): Promise<boolean> {
      const end = Date.now() + withinMs;
      while (isAlive(running().pid)) {
        if (Date.now() > end) return false;
        await sleep(10);
      }
      world.disturb();
      return true;
    },
    /** Starts the service again, and asks again what was not answered; `fault` is what it will do to itself now. */
    async restart(fault?: string) {
      await world.settleBeside();
      outputs.push(running().output());
      await world.start(fault);
      world.disturb();
      await world.askAgain();
    },
    /** Asks again, of the same process, what was not answered. */
    async askAgain() {
      for (const asked of unanswered.splice(0)) await ask(asked);
    },
    /**
     * Creates a session with a callback, secrets and a first message of a kind the oracle knows.
     *
     * @returns undefined when no answer came; the call is made again by `restart`.
     */
    async create(
      kind: string,
      more: { hook?: string; receiverUrl?: string; body?: Record<string, unknown> } = {},
    ) {
      const nonce = random.name();
      const secret = `canary-secret-${random.name()}`;
      const header = `canary-header-${random.name()}`;
      canaries.push(secret, header);
      const idempotencyKey = `key-${nonce}`;
      const body = {
        messages: [userMessage(writeTag({ kind, nonce }))],
        idempotencyKey,
        callback: {
          url: `${more.receiverUrl ?? oracle.receiverUrl}/hook/${more.hook ?? "ok"}/${nonce}`,
          secret,
        },
        mcpServers: {
          crm: { url: "https://127.0.0.1:9/mcp", headers: { authorization: `Bearer ${header}` } },
        },
        ...(/structured|wrong/.test(kind) ? { outputSchema: schemaOf(nonce) } : {}),
        ...more.body,
      };
      secretsByNonce.set(nonce, secret);
      return ask({ nonce, idempotencyKey, path: "/api/session", body });
    },
    /** Posts a follow-up message. */
    followUp(sessionId: string, kind: string, more: Record<string, unknown> = {}) {
      const nonce = random.name();
      const idempotencyKey = `key-${nonce}`;
      const body = { text: writeTag({ kind, nonce }), idempotencyKey, ...more };
      return ask({ nonce, idempotencyKey, path: `/api/sessions/${sessionId}/agent/messages`, body });
    },
    /** Posts a message of its own accord, some time from now, whatever happens to the service meanwhile. */
    followUpLater(sessionId: string, kind: string, mode: FollowUpMode, afterMs: number) {
      beside.push(sleep(afterMs).then(() => world.followUp(sessionId, kind, { mode })));
    },
    /** Waits until what comes at its own time has come. */
    async settleBeside() {
      await Promise.all(beside.splice(0));
    },
    /** Notes that steps of the engine are made to fail, so that it makes them again. */
    expectRepeats() {
      repeatMs = REPEAT_MS;
    },
    /** Waits until no turn is open and no callback is on its way, at most 180 s. */
    async quiet() {
      await world.settleBeside();
      await world.askAgain();
      const end = Date.now() + QUIET_MAX_MS;
      for (const sessionId of new Set(acknowledged.map((one) => one.sessionId))) {
        for (;;) {
          if (await isQuiet(sessionId)) break;
          if (Date.now() > end) {
            problems.push(`${sessionId} was not quiet after ${QUIET_MAX_MS / 1_000} s`);
            return;
          }
          await sleep(50);
        }
      }
    },
    /** Ends the world; everything it left is read. */
    async readEvidence(): Promise<Evidence> {
      isSampling = false;
      await sampling;
      const streams = await readStreams();
      for (const { sessionId } of acknowledged)
        for (const path of ["agent/status", "messages", "deliveries", "browser"])
          texts.push({
            name: path,
            text: await (await running().call("GET", `/api/sessions/${sessionId}/${path}`)).text(),
          });
      await world.stop();
      const left = await processes.waitForEnd(LEFT_MAX_MS);
      const rows = await readSettledRows();
      left.push(...(await processes.waitForEnd(LEFT_MAX_MS)).filter((one) => !left.includes(one)));
      const lines = await oracle.takeLines();
      for (const session of rows.sessions) {
        const secret = secretsByNonce.get(session.idempotencyKey?.replace("key-", "") ?? "");
        if (secret !== undefined) callbackSecrets.set(session.id, secret);
      }
      const sent = lines.flatMap((line) =>
        line.type === "bytes" && line.from === "service"
          ? [Buffer.from(line.base64, "base64").toString("latin1")]
          : [],
      );
      return {
        ...{
          rows,
          oracle: lines,
          acknowledged,
          samples,
          streams,
          left,
          callbackSecrets,
          disturbedAtMs,
          canaries,
        },
        ...{ schedule: SCHEDULE, repeatMs, endedAtMs, starts, waits: processes.waits },
        executions: await readExecutions(dataDir),
        haystacks: [
          ...texts,
          ...streams.map(({ text }) => ({ name: "an event stream", text })),
          { name: "the log of the service", text: outputs.join("") },
          { name: "what the service sent", text: sent.join("") },
          { name: "the database", text: JSON.stringify(rows) },
          ...(await findInFiles(dataDir, canaries)),
        ],
      };
    },
    /** What the services of this world wrote, one after the other. */
    log: () => [...new Set([...outputs, service?.output() ?? ""])].join("\n--- the next process ---\n"),
    /** Ends what is left and removes the data. */
    async close() {
      isSampling = false;
      await sampling;
      processes.stop();
      await service?.kill();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  const secretsByNonce = new Map<string, string>();

  async function isQuiet(sessionId: string): Promise<boolean> {
    type Status = { turnState: string; queued: number };
    const status = await running()
      .read<Status>(`/api/sessions/${sessionId}/agent/status`)
      .catch(() => undefined);
    if (status?.turnState !== "idle" || status.queued !== 0) return false;
    const { data } = await running().read<{ data?: { state: string }[] }>(
      `/api/sessions/${sessionId}/deliveries`,
    );
    return data?.every(({ state }) => state === "delivered" || state === "dropped") ?? false;
  }

  /**
   * The rows of a service that has ended. Where a process was killed, the engine may not know yet that what it played is
   * over: another one takes it up when the lease has run out, and is given the time for that.
   */
  async function readSettledRows(): Promise<Rows> {
    const place = { dataDir, databaseUrl };
    const rows = await readRows(place);
    if ((disturbedAtMs.length === 0 && repeatMs === 0) || !isEngineBusy(rows)) return rows;
    await world.start();
    const end = Date.now() + TAKEN_OVER_MS;
    // An embedded database cannot be looked into beside its owner, who takes up everything at once.
    if (databaseUrl === undefined) await sleep(TAKEN_UP_AT_ONCE_MS);
    else while (isEngineBusy(await readRows(place)) && Date.now() < end) await sleep(500);
    await world.stop();
    return readRows(place);
  }

  /** Every request's stream from its beginning, and from a place in its middle. */
  async function readStreams(): Promise<StreamReading[]> {
    const readings: StreamReading[] = [];
    for (const { sessionId, requestId } of acknowledged.slice(-20)) {
      for (const after of [0, random.between(1, 12)]) {
        const path = `/api/sessions/${sessionId}/requests/${requestId}/stream?after=${after}`;
        const answer = await running().call("GET", path, undefined, {});
        readings.push({ sessionId, requestId, after, text: await answer.text() });
      }
    }
    return readings;
  }

  return world;
}

const readMode = ({ mode }: Record<string, unknown>): FollowUpMode =>
  mode === "steer" || mode === "interrupt" ? mode : "queue";

/** A schema with a rule that a provider cannot enforce; its title names the session. */
const schemaOf = (nonce: string) => ({
  type: "object",
  title: `Result ${nonce}`,
  properties: {
    name: { type: "string", minLength: 3 },
    tags: { type: "array", items: { type: "string" }, minItems: 1 },
  },
  required: ["name", "tags"],
  additionalProperties: false,
});

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
