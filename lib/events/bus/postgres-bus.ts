import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import type { Listen } from "#db/notifications.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listNewestSeqs, readEvents } from "../event-store.ts";
import type { BusItem, BusListener, EventBus } from "./bus.ts";
import { createInboxes } from "./inbox.ts";
import { keepListening, type Line } from "./keep-listening.ts";
import { createListeners } from "./listeners.ts";
import { type Notice, packNotices, readEnvelope } from "./notice.ts";
import { createUnfinished } from "./unfinished.ts";

type PostgresBusDeps = {
  db: Database;
  listen: Listen;
  logger: Pick<Logger, "debug" | "warn">;
  /** Between two looks for events that nobody told of, in milliseconds. */
  sweepMs?: number;
};

type Hearer<Callback> = { hear: Callback; onGap: () => void };

/** Names no process: the sender of a word that does not listen. */
const NO_PROCESS = "";
const CHANNEL = "agent_session_service";
/** Notices that wait for a lost connection; beyond that the others are told to read the log instead. */
const WAITING_MAX = 10_000;

/**
 * The bus between the processes of one Postgres. Listeners of this process are served from memory at once; others by
 * notifications, which carry live pieces of messages and the numbers of events, whose content is in the log. What may
 * have been missed (a lost connection, a process that died between its commit and its word, or never heard of its
 * commit) becomes a gap.
 * A process that is alone sends nothing.
 *
 * @throws DatabaseUnreachableError when there is no connection to begin with.
 */
export async function createPostgresBus(deps: PostgresBusDeps): Promise<EventBus> {
  const { db, logger, sweepMs = 5_000 } = deps;
  const self = randomUUID().slice(0, 8);
  const sessions = createListeners<Hearer<BusListener>>();
  const topics = createListeners<Hearer<(word: string) => void>>();
  const unfinished = createUnfinished();
  /** Sessions whose message in the making is written by this process. */
  const written = new Set<string>();
  const peers = new Set<string>();
  /** The newest event known of each session that is listened to. */
  const seen = new Map<string, number>();
  let waiting: { to: string | undefined; notice: Notice }[] = [];
  /** Sends what waits, batch after batch; undefined while nothing is being sent. */
  let sending: Promise<void> | undefined;
  let line: Line | undefined;

  const inboxes = createInboxes({
    isHeard: sessions.has,
    read: (sessionId, first, last) =>
      readEvents(db, sessionId, { after: first - 1, limit: last - first + 1 }),
    deliver,
    skip: unfinished.settle,
    // The next sweep finds that nothing is known of it, and tells its listeners.
    fail: (sessionId) => seen.delete(sessionId),
  });
  line = await keepListening(deps.listen, CHANNEL, { logger, onPayload: receive, onBack: introduce });
  introduce();
  const sweeper = setInterval(() => void sweep(), sweepMs);
  sweeper.unref();

  function deliver(sessionId: string, item: BusItem): void {
    if (item.type === "delta") unfinished.remember(item.delta);
    else {
      unfinished.settle(sessionId, item.event.kind);
      if (sessions.has(sessionId)) noteSeen(sessionId, item.event.seq);
    }
    for (const { hear } of sessions.of(sessionId)) hear(item);
  }
  function noteSeen(sessionId: string, seq: number): void {
    seen.set(sessionId, Math.max(seq, seen.get(sessionId) ?? 0));
  }

  function say(notice: Notice, to?: string): void {
    if (peers.size === 0 && notice.type !== "hello") return;
    if (waiting.length >= WAITING_MAX) waiting = [{ to: undefined, notice: { type: "gap" } }];
    waiting.push({ to, notice });
    void send();
  }
  /** Resolves when everything said until then is sent, or cannot be sent now. */
  async function send(): Promise<void> {
    if (!sending && waiting.length > 0 && line?.isUp()) sending = sendBatches();
    await sending;
  }
  /** Sends one statement at a time; notices that arrive meanwhile go with the next one. */
  async function sendBatches(): Promise<void> {
    while (waiting.length > 0 && line?.isUp()) {
      const batch = waiting;
      waiting = [];
      try {
        await line.notify(pack(batch));
      } catch {
        // Hearing something twice does no harm.
        waiting = [...batch, ...waiting];
        break;
      }
    }
    sending = undefined;
  }
  function pack(batch: typeof waiting): string[] {
    const payloads: string[] = [];
    for (let at = 0; at < batch.length; ) {
      const to = batch[at]?.to;
      let end = at;
      while (end < batch.length && batch[end]?.to === to) end++;
      const notices = batch.slice(at, end).map(({ notice }) => notice);
      payloads.push(...packNotices(self, to, notices));
      at = end;
    }
    return payloads;
  }

  /** After every connecting: whatever was said meanwhile was missed. */
  function introduce(): void {
    waiting.unshift({ to: undefined, notice: { type: "hello" } });
    void send();
    tellGap();
  }
  function tellGapOf(sessionId: string): void {
    for (const { onGap } of sessions.of(sessionId)) onGap();
  }
  function tellGap(): void {
    for (const sessionId of sessions.keys()) tellGapOf(sessionId);
    for (const key of topics.keys()) for (const { onGap } of topics.of(key)) onGap();
  }

  function receive(payload: string): void {
    const envelope = readEnvelope(payload);
    if (!envelope || envelope.from === self) return;
    if (envelope.from !== NO_PROCESS && !peers.has(envelope.from)) {
      peers.add(envelope.from);
      // Until now nothing was said to it.
      say({ type: "gap" }, envelope.from);
    }
    if (envelope.to !== undefined && envelope.to !== self) return;
    for (const notice of envelope.notices) take(envelope.from, notice);
  }
  function take(from: string, notice: Notice): void {
    switch (notice.type) {
      case "hello":
        for (const delta of unfinished.readAll())
          if (written.has(delta.sessionId)) say({ type: "delta", delta }, from);
        return;
      case "gap":
        tellGap();
        return;
      case "signal":
        for (const { hear } of topics.of(notice.topic)) hear(notice.word);
        return;
      case "delta":
        written.delete(notice.delta.sessionId);
        inboxes.put(notice.delta.sessionId, notice);
        return;
      case "event":
        inboxes.put(notice.sessionId, notice);
        return;
    }
  }

  /**
   * Finds events of which no process told, because it ended right after its commit, or does not know of it: one that is
   * alone may be that one. One statement for all sessions that are listened to, and none while nobody listens.
   */
  async function sweep(): Promise<void> {
    const heard = sessions.keys();
    for (const sessionId of seen.keys()) if (!sessions.has(sessionId)) seen.delete(sessionId);
    if (heard.length === 0) return;
    try {
      for (const { sessionId, seq } of await listNewestSeqs(db, heard)) {
        if (seq <= (seen.get(sessionId) ?? -1)) continue;
        noteSeen(sessionId, seq);
        tellGapOf(sessionId);
      }
    } catch (error) {
      logger.debug({ err: error }, "the log could not be compared with the bus");
    }
  }

  return {
    publish(sessionId, item) {
      deliver(sessionId, item);
      if (item.type === "delta") {
        written.add(sessionId);
        return say({ type: "delta", delta: item.delta });
      }
      if (unfinished.read(sessionId).length === 0) written.delete(sessionId);
      const { seq, kind } = item.event;
      say({ type: "event", sessionId, seq, kind });
    },
    subscribe: (sessionId, hear, onGap = () => {}) => sessions.add(sessionId, { hear, onGap }),
    recheck: tellGapOf,
    readUnfinished: unfinished.read,
    signal(topic, word) {
      for (const { hear } of topics.of(topic)) hear(word);
      say({ type: "signal", topic, word });
    },
    onSignal: (topic, hear, onGap = () => {}) => topics.add(topic, { hear, onGap }),
    async close() {
      clearInterval(sweeper);
      // The connection must not close under a statement: the other processes would miss its notices.
      await send();
      await line?.close();
    },
  };
}

/**
 * Sends a word of {@link EventBus.signal} to every process of this Postgres, from a process that has no bus of its own
 * (a command). It is sent when the promise resolves. @throws when the database cannot be reached.
 */
export async function sendSignal(db: Database, topic: string, word: string): Promise<void> {
  for (const payload of packNotices(NO_PROCESS, undefined, [{ type: "signal", topic, word }]))
    await db.execute(sql`select pg_notify(${CHANNEL}, ${payload})`);
}
