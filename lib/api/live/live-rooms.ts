import type { LiveFrame } from "../client/types.ts";

/** Frames that tell of the connection and of what passes; they are not kept. */
export type LiveNotice = Extract<
  LiveFrame,
  { type: "ready" | "watching" | "control" | "cursor" | "pointer" | "queue" | "pong" }
>;

/** What a notice says, before it is addressed. */
export type NoticeContent = LiveNotice extends infer Notice
  ? Notice extends LiveNotice
    ? Pick<Notice, "type" | "data">
    : never
  : never;

/** One connection that was let in. */
export type LiveMember = { tell: (content: NoticeContent) => void };

/** Who is connected to each session, and who of them holds the controls of its browser. */
export type LiveRooms = {
  /** Lets a connection in; it is told who holds the controls, if anybody does. @returns the way out, which lets the controls go. */
  enter: (sessionId: string, member: LiveMember) => () => void;
  tellAll: (sessionId: string, content: NoticeContent) => void;
  /** Gives the controls to a connection, also from another's hands. */
  take: (sessionId: string, member: LiveMember) => void;
  /** Lets the controls go where this connection holds them. */
  release: (sessionId: string, member: LiveMember) => void;
  isDriven: (sessionId: string) => boolean;
};

/** @see LiveRooms */
export function createLiveRooms(): LiveRooms {
  const rooms = new Map<string, Set<LiveMember>>();
  const holders = new Map<string, LiveMember>();
  const membersOf = (sessionId: string) => rooms.get(sessionId) ?? new Set<LiveMember>();

  function tellHolder(sessionId: string, member: LiveMember): void {
    const holder = holders.get(sessionId);
    member.tell({
      type: "control",
      data: { holder: !holder ? null : holder === member ? "you" : "someone" },
    });
  }
  function changeHolder(sessionId: string, holder: LiveMember | undefined): void {
    if (holders.get(sessionId) === holder) return;
    if (holder) holders.set(sessionId, holder);
    else holders.delete(sessionId);
    for (const member of membersOf(sessionId)) tellHolder(sessionId, member);
  }
  function release(sessionId: string, member: LiveMember): void {
    if (holders.get(sessionId) === member) changeHolder(sessionId, undefined);
  }

  return {
    enter(sessionId, member) {
      const members = membersOf(sessionId).add(member);
      rooms.set(sessionId, members);
      if (holders.has(sessionId)) tellHolder(sessionId, member);
      return () => {
        members.delete(member);
        if (members.size === 0 && rooms.get(sessionId) === members) rooms.delete(sessionId);
        release(sessionId, member);
      };
    },
    tellAll(sessionId, content) {
      for (const member of membersOf(sessionId)) member.tell(content);
    },
    take: changeHolder,
    release,
    isDriven: (sessionId) => holders.has(sessionId),
  };
}
