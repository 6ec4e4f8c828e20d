import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { ControlState } from "#lib/browser/view/control-state.ts";
import type { LiveNotice } from "#lib/page/state/view-types.ts";

/** A notice without `sessionId` and `timestamp`. */
export type NoticeContent = LiveNotice extends infer Notice
  ? Notice extends LiveNotice
    ? Pick<Notice, "type" | "data">
    : never
  : never;

/** One accepted connection. */
type LiveMember = {
  id: string;
  notify: (content: NoticeContent) => void;
  /** Called when this connection has control, but its host believes that it has ended. */
  stay: () => void;
};

/** The live connections of this process, grouped by session. */
export type LiveRooms = {
  /**
   * Adds a connection. The connection is notified about who controls the browser: at once if a person already has
   * control, and after each change.
   * @returns a function that removes the connection.
   */
  enter: (sessionId: string, member: LiveMember) => () => void;
  notifyAll: (sessionId: string, content: NoticeContent) => void;
  sessionIds: () => string[];
};

/** @see LiveRooms */
export function createLiveRooms(control: Pick<BrowserControl, "stateOf" | "follow">): LiveRooms {
  const rooms = new Map<string, Set<LiveMember>>();

  return {
    enter(sessionId, member) {
      const members = rooms.get(sessionId) ?? new Set();
      rooms.set(sessionId, members.add(member));
      const notifyOfHolder = () => {
        const state = control.stateOf(sessionId);
        member.notify({ type: "control", data: describeControl(state, member.id) });
        const isOwn = state?.holder?.connectionId === member.id;
        if (isOwn && state.holder?.expiry?.reason === "away") member.stay();
      };
      const now = control.stateOf(sessionId);
      if (now?.holder || now?.isPrivate) notifyOfHolder();
      const stopFollowing = control.follow(sessionId, notifyOfHolder);
      return () => {
        members.delete(member);
        if (members.size === 0 && rooms.get(sessionId) === members) rooms.delete(sessionId);
        stopFollowing();
      };
    },
    sessionIds: () => [...rooms.keys()],
    notifyAll(sessionId, content) {
      for (const member of rooms.get(sessionId) ?? []) member.notify(content);
    },
  };
}

/** Describes to a connection who has control of the browser. */
export function describeControl(
  state: Pick<ControlState, "holder" | "ended" | "isPrivate"> | undefined,
  connectionId: string,
): Extract<NoticeContent, { type: "control" }>["data"] {
  const holder = state?.holder ?? null;
  const own = holder?.connectionId === connectionId ? "you" : "someone";
  return {
    holder: holder && own,
    name: holder?.name ?? null,
    expiresAt: holder?.expiry?.at ?? null,
    expiresBecause: holder?.expiry?.reason ?? null,
    ended: state?.ended ?? null,
    isPrivate: state?.isPrivate ?? false,
  };
}
