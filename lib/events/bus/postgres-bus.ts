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
  /** Time between two comparisons of the delivered events with the log: see {@link LogSweep}. */
  sweepMs?: number;
};

/** The parts of one process's bus. */
type Parts = {
  processId: string;
  local: LocalBus;
  inboxes: Inboxes;
  outbox: Outbox;
  sweep: LogSweep;
  /** Ids of other processes that have sent something to this one. If there are none, this process sends only `hello`. */
  peers: Set<string>;
  /** Sessions whose unfinished message this process streams. */
  streamed: Set<string>;
};

const CHANNEL = "agent_session_service";
/** The sender id of a process that sends without listening. */
const NO_PROCESS = "";

/**
 * Opens the bus between the processes that share one Postgres. Listeners in this process are called at once, from
 * memory. Other processes receive notifications: live pieces of messages in full, and of each event only the number,
 * with which they read it from the log. When notifications may have been lost, for example with the connection or
 * because a writer crashed after its commit, `onGap` of the listeners is called.
 *
 * @throws DatabaseUnreachableError when the first connection cannot be opened.
 */
export async function createPostgresBus(deps: PostgresBusDeps): Promise<EventBus> {
  const { db, listen, logger, sweepMs = 5_000 } = deps;
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
  const outbox = createOutbox(connection, processId);
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
      // Closing the connection while a statement runs would lose the notices in it.
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
  if (item.type === "event") sweep.noteDelivered(sessionId, item.event.seq);
  local.publish(sessionId, item);
}

function send({ peers, outbox }: Parts, notice: Notice, to?: string): void {
  if (peers.size > 0) outbox.push(notice, to);
}

/**
 * Runs after each connect. Asks the other processes for unfinished messages, and reports a gap to all listeners, because
 * notices may have been missed while disconnected.
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
    // This process sends nothing before it knows a peer, so the new peer may have missed notices.
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
      // Another process streams the message now, so this process must not send it to new processes any more.
      streamed.delete(notice.delta.sessionId);
      inboxes.put(notice.delta.sessionId, notice);
      break;
    case "event":
      inboxes.put(notice.sessionId, notice);
      break;
  }
}

/**
 * Sends a signal to every process of this Postgres. For a process that has no bus, such as a command. Resolves when the
 * signal is sent. @throws when the database cannot be reached.
 */
export async function sendSignal(db: Database, topic: string, text: string): Promise<void> {
  for (const payload of packNotices(NO_PROCESS, undefined, [{ type: "signal", topic, word: text }]))
    await db.execute(sql`select pg_notify(${CHANNEL}, ${payload})`);
}
