import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
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
  /**
   * Called when this connection loses control of the browser: another connection took control, or this one released it.
   */
  onControlLost: () => void;
};

/** The live connections of this process, grouped by session. */
export type LiveRooms = {
  /**
   * Adds a connection. The connection is notified about who controls the browser: at once if any connection already has
   * control, and after each change.
   * @returns a function that removes the connection and releases its control.
   */
  enter: (sessionId: string, member: LiveMember) => () => void;
  notifyAll: (sessionId: string, content: NoticeContent) => void;
  sessionIds: () => string[];
};

/** @see LiveRooms */
export function createLiveRooms(control: BrowserControl): LiveRooms {
  const rooms = new Map<string, Set<LiveMember>>();

  return {
    enter(sessionId, member) {
      const members = rooms.get(sessionId) ?? new Set();
      rooms.set(sessionId, members.add(member));
      let hadControl = false;
      const notifyOfHolder = () => {
        const holder = control.holderOf(sessionId);
        const hasControl = holder === member.id;
        if (hadControl && !hasControl) member.onControlLost();
        hadControl = hasControl;
        member.notify({
          type: "control",
          data: { holder: holder === undefined ? null : hasControl ? "you" : "someone" },
        });
      };
      if (control.holderOf(sessionId) !== undefined) notifyOfHolder();
      const stopFollowing = control.follow(sessionId, notifyOfHolder);
      return () => {
        members.delete(member);
        if (members.size === 0 && rooms.get(sessionId) === members) rooms.delete(sessionId);
        control.release(sessionId, member.id);
        stopFollowing();
      };
    },
    sessionIds: () => [...rooms.keys()],
    notifyAll(sessionId, content) {
      for (const member of rooms.get(sessionId) ?? []) member.notify(content);
    },
  };
}
