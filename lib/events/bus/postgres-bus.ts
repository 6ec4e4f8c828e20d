import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import type { Listen } from "#db/notifications.ts";
import type { Logger } from "#lib/log/logger.ts";
import { readEvents } from "../event-store.ts";
import type { BusItem, EventBus } from "./bus.ts";
import { createBusConnection } from "./connection.ts";
import { createInboxes, type Inboxes } from "./inbox.ts";
import { createLocalBus, type LocalBus } from "./local-bus.ts";
import { createLogSweep, type LogSweep } from "./log-sweep.ts";
import { type Notice, packNotices, readEnvelope } from "./notice.ts";
import { createOutbox, type Outbox } from "./notice-outbox.ts";

type PostgresBusDeps = {
  db: Database;
  listen: Listen;
  logger: Pick<Logger, "debug" | "warn">;
  /** Milliseconds between two comparisons of the delivered events with the log, see {@link LogSweep}. */
  sweepMs?: number;
  /** Called with the notices' way to other processes. A platform that freezes processes has to wait for this promise. */
  onSending?: ((sending: Promise<void>) => void) | undefined;
};

/** The components of the bus in one process. */
type Parts = {
  processId: string;
  local: LocalBus;
  inboxes: Inboxes;
  outbox: Outbox;
  sweep: LogSweep;
  /** Ids of the other processes that have sent a notice. While the set is empty, this process sends only `hello`. */
  peers: Set<string>;
  /** Sessions whose unfinished message this process publishes, chunk by chunk. */
  streamed: Set<string>;
};

const CHANNEL = "agent_session_service";
/** The sender id of a process that sends without listening. */
const NO_PROCESS = "";

/**
 * Opens the bus between the processes that share one Postgres. Listeners in this process are called synchronously.
 * Other processes receive notifications. A notification contains a chunk of a message in full, but only the sequence
 * number of an event; the receiver reads the event from the log.
 *
 * The bus calls `onGap` of the listeners when notifications may have been lost, for example after a lost connection or
 * a crash of a writer after its commit.
 *
 * @throws DatabaseUnreachableError when the first connection cannot be opened.
 */
export async function createPostgresBus(deps: PostgresBusDeps): Promise<EventBus> {
  const { db, listen, logger, sweepMs = 5_000, onSending } = deps;
  const processId = randomUUID().slice(0, 8);
  const local = createLocalBus();
  const sweep = createLogSweep({ db, local, logger });
  const connection = createBusConnection(
    {
      listen,
      logger,
      onPayload: (payload) => receivePayload(parts, payload),
      onListening: () => introduce(parts),
    },
    CHANNEL,
  );
  const outbox = createOutbox(connection, processId, onSending);
  const inboxes = createInboxes({
    hasListeners: local.hasListeners,
    read: (sessionId, first, last) =>
      readEvents(db, sessionId, { after: first - 1, limit: last - first + 1 }),
    deliver: (sessionId, item) => deliver(parts, sessionId, item),
    skip: local.settle,
    onReadFailed: sweep.forget,
  });
  const parts: Parts = { processId, local, inboxes, outbox, sweep, peers: new Set(), streamed: new Set() };

  await connection.open();
  const sweeper = setInterval(() => void sweep.run(), sweepMs);
  sweeper.unref();
  return {
    publish: (sessionId, item) => publish(parts, sessionId, item),
    subscribe: local.subscribe,
    recheck: local.recheck,
    readUnfinished: local.readUnfinished,
    signal(topic, text) {
      local.signal(topic, text);
      send(parts, { type: "signal", topic, word: text });
    },
    onSignal: local.onSignal,
    async close() {
      clearInterval(sweeper);
      // The outbox is flushed first, because closing the connection during a statement would lose the notices in the
      // statement.
      await outbox.flush();
      await connection.close();
    },
  };
}

function publish(parts: Parts, sessionId: string, item: BusItem): void {
  const { local, streamed } = parts;
  deliver(parts, sessionId, item);
  if (item.type === "delta") {
    streamed.add(sessionId);
    send(parts, { type: "delta", delta: item.delta });
  } else {
    if (local.readUnfinished(sessionId).length === 0) streamed.delete(sessionId);
    const { seq, kind } = item.event;
    send(parts, { type: "event", sessionId, seq, kind });
  }
}

/** Delivers an item to the listeners in this process. */
function deliver({ local, sweep }: Parts, sessionId: string, item: BusItem): void {
  if (item.type === "event") sweep.recordDelivered(sessionId, item.event.seq);
  local.publish(sessionId, item);
}

function send({ peers, outbox }: Parts, notice: Notice, to?: string): void {
  if (peers.size > 0) outbox.push(notice, to);
}

/**
 * Runs after each connect. Asks the other processes for their unfinished messages. Also reports a gap to all listeners,
 * because notices may have been missed while disconnected.
 */
function introduce({ outbox, local }: Parts): void {
  outbox.pushFirst({ type: "hello" });
  local.recheckAll();
}

function receivePayload(parts: Parts, payload: string): void {
  const { processId, peers } = parts;
  const envelope = readEnvelope(payload);
  if (!envelope || envelope.from === processId) return;
  if (envelope.from !== NO_PROCESS && !peers.has(envelope.from)) {
    peers.add(envelope.from);
    // The new peer may have missed notices, because this process sends none before it knows a peer.
    send(parts, { type: "gap" }, envelope.from);
  }
  if (envelope.to !== undefined && envelope.to !== processId) return;
  for (const notice of envelope.notices) receiveNotice(parts, envelope.from, notice);
}

function receiveNotice(parts: Parts, from: string, notice: Notice): void {
  const { local, inboxes, streamed } = parts;
  switch (notice.type) {
    case "hello":
      for (const delta of local.readAllUnfinished())
        if (streamed.has(delta.sessionId)) send(parts, { type: "delta", delta }, from);
      break;
    case "gap":
      local.recheckAll();
      break;
    case "signal":
      local.signal(notice.topic, notice.word);
      break;
    case "delta":
      // Another process now streams the message, so this process must no longer send the message to new processes.
      streamed.delete(notice.delta.sessionId);
      inboxes.put(notice.delta.sessionId, notice);
      break;
    case "event":
      inboxes.put(notice.sessionId, notice);
      break;
  }
}

/**
 * Sends a signal to every process that uses this Postgres. Used in processes without a bus, such as commands. Resolves
 * when the signal is sent. @throws when the database cannot be reached.
 */
export async function sendSignal(db: Database, topic: string, text: string): Promise<void> {
  for (const payload of packNotices(NO_PROCESS, undefined, [{ type: "signal", topic, word: text }]))
    await db.execute(sql`select pg_notify(${CHANNEL}, ${payload})`);
}
