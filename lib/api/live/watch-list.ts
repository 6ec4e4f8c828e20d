/** One connection as the count sees it. */
type Member = { told: number; tell: (watching: number) => void };

/** Who is there, by session. */
export type WatchList = {
  /**
   * Counts a connection in. `tell` hears each later change of the number, changes of one moment as one.
   * @returns the number with it, and the way to leave.
   */
  join: (sessionId: string, tell: (watching: number) => void) => { watching: number; leave: () => void };
  count: (sessionId: string) => number;
};

/** @see WatchList */
export function createWatchList(): WatchList {
  const rooms = new Map<string, Set<Member>>();
  const changed = new Set<string>();

  function announce(sessionId: string): void {
    if (changed.size === 0) setImmediate(tellAll);
    changed.add(sessionId);
  }
  function tellAll(): void {
    const sessionIds = [...changed];
    changed.clear();
    for (const sessionId of sessionIds) {
      const members = rooms.get(sessionId) ?? new Set();
      const watching = members.size;
      for (const member of members) {
        if (member.told === watching) continue;
        member.told = watching;
        member.tell(watching);
      }
    }
  }

  return {
    join(sessionId, tell) {
      const members = rooms.get(sessionId) ?? new Set();
      const watching = members.size + 1;
      const member: Member = { told: watching, tell };
      rooms.set(sessionId, members.add(member));
      announce(sessionId);
      const leave = () => {
        if (!members.delete(member)) return;
        if (members.size === 0 && rooms.get(sessionId) === members) rooms.delete(sessionId);
        announce(sessionId);
      };
      return { watching, leave };
    },
    count: (sessionId) => rooms.get(sessionId)?.size ?? 0,
  };
}
