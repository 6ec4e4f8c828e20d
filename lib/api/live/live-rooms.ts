import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { LiveNotice } from "#lib/page/state/view-types.ts";

/** The content of a notice, before it is addressed. */
export type NoticeContent = LiveNotice extends infer Notice
  ? Notice extends LiveNotice
    ? Pick<Notice, "type" | "data">
    : never
  : never;

/** One accepted connection. */
type LiveMember = {
  id: string;
  tell: (content: NoticeContent) => void;
  /** Called when the connection has lost control, to another one or by its own release. */
  onControlLost: () => void;
};

/** The connections of this process, by session. */
export type LiveRooms = {
  /**
   * Lets a connection in; it is told who has control, now if somebody has and after every change.
   * @returns the way out, which releases control.
   */
  enter: (sessionId: string, member: LiveMember) => () => void;
  tellAll: (sessionId: string, content: NoticeContent) => void;
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
      const tellHolder = () => {
        const holder = control.holderOf(sessionId);
        const hasControl = holder === member.id;
        if (hadControl && !hasControl) member.onControlLost();
        hadControl = hasControl;
        member.tell({
          type: "control",
          data: { holder: holder === undefined ? null : hasControl ? "you" : "someone" },
        });
      };
      if (control.holderOf(sessionId) !== undefined) tellHolder();
      const stopFollowing = control.follow(sessionId, tellHolder);
      return () => {
        members.delete(member);
        if (members.size === 0 && rooms.get(sessionId) === members) rooms.delete(sessionId);
        control.release(sessionId, member.id);
        stopFollowing();
      };
    },
    sessionIds: () => [...rooms.keys()],
    tellAll(sessionId, content) {
      for (const member of rooms.get(sessionId) ?? []) member.tell(content);
    },
  };
}
