import type { Topic } from "#lib/events/bus/topic.ts";

/** A connection of this process, with the last count that was sent to it. */
type Member = { notifiedCount: number; notify: (watching: number) => void };

/** What this process knows about the connections of one session. */
type Room = {
  members: Set<Member>;
  /** How many connections each other process has, by the id of the process. */
  others: Map<string, number>;
  /** For each question that waits for answers: the processes that have not repeated their count since. */
  questions: Set<Set<string>>;
};

/**
 * Counts the connections that follow each session, in all processes. For a session to which this process has no
 * connection, the count is 0.
 */
export type WatchList = {
  /**
   * Adds a connection. `notify` is called with the new count after each later change. Several changes at the same time
   * cause one call.
   * @returns the current count with this connection included, and a function that removes the connection. The count
   * uses the last known counts of other processes.
   */
  join: (sessionId: string, notify: (watching: number) => void) => { watching: number; leave: () => void };
  count: (sessionId: string) => number;
  close: () => void;
};

/**
 * A message with the number of connections that the process `from` has to a session. With `asks`, the message also asks
 * the other processes for their numbers.
 */
type CountMessage = { from: string; sessionId: string; watching: number; asks?: true };

/**
 * Creates the list. When a connection joins or leaves, its process publishes how many connections it now has to the
 * session. A process also publishes its count when another process asks for it, and after messages may have been
 * missed. A process ignores counts of sessions to which it has no connections.
 *
 * @param options.confirmMs milliseconds within which other processes must repeat their counts when this process asks
 * for them. The count of a process that does not answer in time is dropped.
 */
export function createWatchList(
  topic: Topic,
  { self = crypto.randomUUID(), confirmMs = 2_000 }: { self?: string; confirmMs?: number } = {},
): WatchList {
  const rooms = new Map<string, Room>();
  /**
   * Sessions whose count may have changed since the last flush. With `isOwn`, this process's count must be published.
   * With `asks`, the other processes must be asked for their counts.
   */
  const changed = new Map<string, { isOwn: boolean; asks: boolean }>();
  const timers = new Set<NodeJS.Timeout>();
  const publish = (message: CountMessage) => topic.publish(JSON.stringify(message));

  function countAll(sessionId: string): number {
    const room = rooms.get(sessionId);
    return room ? [...room.others.values()].reduce((sum, count) => sum + count, room.members.size) : 0;
  }
  function announce(sessionId: string, { isOwn = false, asks = false }): void {
    if (changed.size === 0) setImmediate(flush);
    const pending = changed.get(sessionId);
    changed.set(sessionId, { isOwn: isOwn || pending?.isOwn === true, asks: asks || pending?.asks === true });
  }
  function flush(): void {
    const all = [...changed];
    changed.clear();
    for (const [sessionId, { isOwn, asks }] of all) {
      const room = rooms.get(sessionId);
      if (room && asks) expectCounts(sessionId, room);
      if (isOwn) publish({ from: self, sessionId, watching: room?.members.size ?? 0, ...(asks && { asks }) });
      const watching = countAll(sessionId);
      for (const member of room?.members ?? []) {
        if (member.notifiedCount === watching) continue;
        member.notifiedCount = watching;
        member.notify(watching);
      }
    }
  }
  /** Drops the counts of processes that do not repeat them in time, because such a process has probably crashed. */
  function expectCounts(sessionId: string, room: Room): void {
    if (room.others.size === 0) return;
    const unconfirmed = new Set(room.others.keys());
    room.questions.add(unconfirmed);
    const timer = setTimeout(() => {
      timers.delete(timer);
      room.questions.delete(unconfirmed);
      for (const from of unconfirmed) room.others.delete(from);
      announce(sessionId, {});
    }, confirmMs);
    timer.unref();
    timers.add(timer);
  }

  function receive({ from, sessionId, watching, asks }: CountMessage): void {
    const room = rooms.get(sessionId);
    if (from === self || !room) return;
    for (const unconfirmed of room.questions) unconfirmed.delete(from);
    if (watching === 0) room.others.delete(from);
    else room.others.set(from, watching);
    announce(sessionId, { isOwn: asks === true });
  }
  const stopListening = topic.subscribe(
    // The cast holds because only this module publishes to the topic.
    (text) => receive(JSON.parse(text) as CountMessage),
    () => {
      for (const sessionId of rooms.keys()) announce(sessionId, { isOwn: true, asks: true });
    },
  );

  return {
    join(sessionId, notify) {
      const room: Room = rooms.get(sessionId) ?? {
        members: new Set(),
        others: new Map(),
        questions: new Set(),
      };
      rooms.set(sessionId, room);
      const member: Member = { notifiedCount: countAll(sessionId) + 1, notify };
      room.members.add(member);
      announce(sessionId, { isOwn: true, asks: true });
      const leave = () => {
        if (!room.members.delete(member)) return;
        if (room.members.size === 0) rooms.delete(sessionId);
        announce(sessionId, { isOwn: true });
      };
      return { watching: member.notifiedCount, leave };
    },
    count: countAll,
    close() {
      // Publishes pending changes first, because connections that closed just now may have caused some.
      flush();
      stopListening();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
