import type { Topic } from "#lib/events/bus/topic.ts";

/** One connection and the number that it was told last. */
type Member = { told: number; tell: (watching: number) => void };

/** The connections of one session. */
type Room = {
  members: Set<Member>;
  /** How many connections each other process has. */
  others: Map<string, number>;
  /** Processes that were asked to repeat their count and have not done so yet. */
  unconfirmed: Set<string>;
};

/** How many connections follow each session, in all processes. */
export type WatchList = {
  /**
   * Counts a connection in. `tell` is called with each later change of the number; changes of one moment are one call.
   * @returns the number with this connection, as far as this process knows it, and the way to leave.
   */
  join: (sessionId: string, tell: (watching: number) => void) => { watching: number; leave: () => void };
  count: (sessionId: string) => number;
  close: () => void;
};

/** A process tells its count of a session when it changes; with `asks` it wants the counts of the others. */
type Word = { from: string; sessionId: string; watching: number; asks?: true };

/**
 * Makes the list. Processes tell each other when connections come and go, and hear only of sessions that they have
 * connections of, so that connections that stay cost nothing.
 *
 * @param options.confirmMs how long another process may take to repeat its count when a connection has come; a process
 * that does not counts as gone.
 */
export function createWatchList(
  words: Topic,
  { self = crypto.randomUUID(), confirmMs = 2_000 }: { self?: string; confirmMs?: number } = {},
): WatchList {
  const rooms = new Map<string, Room>();
  /** Sessions whose number has changed; `asks` where a connection of this process has come. */
  const changed = new Map<string, { isOwn: boolean; asks: boolean }>();
  const timers = new Set<NodeJS.Timeout>();
  const tell = (word: Word) => words.tell(JSON.stringify(word));

  function countAll(sessionId: string): number {
    const room = rooms.get(sessionId);
    return room ? [...room.others.values()].reduce((sum, count) => sum + count, room.members.size) : 0;
  }
  function announce(sessionId: string, { isOwn = false, asks = false }): void {
    if (changed.size === 0) setImmediate(tellAll);
    const known = changed.get(sessionId);
    changed.set(sessionId, { isOwn: isOwn || known?.isOwn === true, asks: asks || known?.asks === true });
  }
  function tellAll(): void {
    const all = [...changed];
    changed.clear();
    for (const [sessionId, { isOwn, asks }] of all) {
      const room = rooms.get(sessionId);
      if (room && asks) expectCounts(sessionId, room);
      if (isOwn) tell({ from: self, sessionId, watching: room?.members.size ?? 0, ...(asks && { asks }) });
      const watching = countAll(sessionId);
      for (const member of room?.members ?? []) {
        if (member.told === watching) continue;
        member.told = watching;
        member.tell(watching);
      }
    }
  }
  /** A process that ended without a word is found out when it does not repeat its count. */
  function expectCounts(sessionId: string, room: Room): void {
    if (room.others.size === 0) return;
    room.unconfirmed = new Set(room.others.keys());
    const timer = setTimeout(() => {
      timers.delete(timer);
      for (const from of room.unconfirmed) room.others.delete(from);
      room.unconfirmed.clear();
      announce(sessionId, {});
    }, confirmMs);
    timer.unref();
    timers.add(timer);
  }

  function receive({ from, sessionId, watching, asks }: Word): void {
    const room = rooms.get(sessionId);
    if (from === self || !room) return;
    room.unconfirmed.delete(from);
    if (watching === 0) room.others.delete(from);
    else room.others.set(from, watching);
    announce(sessionId, { isOwn: asks === true });
  }
  const stopListening = words.listen(
    // Only this module writes to the topic.
    (word) => receive(JSON.parse(word) as Word),
    () => {
      for (const sessionId of rooms.keys()) announce(sessionId, { isOwn: true, asks: true });
    },
  );

  return {
    join(sessionId, tellMember) {
      const room: Room = rooms.get(sessionId) ?? {
        members: new Set(),
        others: new Map(),
        unconfirmed: new Set(),
      };
      rooms.set(sessionId, room);
      const member: Member = { told: countAll(sessionId) + 1, tell: tellMember };
      room.members.add(member);
      announce(sessionId, { isOwn: true, asks: true });
      const leave = () => {
        if (!room.members.delete(member)) return;
        if (room.members.size === 0) rooms.delete(sessionId);
        announce(sessionId, { isOwn: true });
      };
      return { watching: member.told, leave };
    },
    count: countAll,
    close() {
      // Connections that closed last have not been announced yet.
      tellAll();
      stopListening();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
