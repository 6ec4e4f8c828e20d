import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { ControlRequest } from "#lib/browser/view/control-state.ts";
import type { Logger } from "#lib/log/logger.ts";
import { errorText } from "#lib/text/error-text.ts";
import type { ApiServices } from "../handlers/services.ts";
import { describeControl, type NoticeContent } from "./live-rooms.ts";

/** The control that one connection has or wants. Everything is decided at the session's browser host. */
type ViewerControl = {
  take: () => void;
  resume: (secret: string) => void;
  keep: () => void;
  stay: () => void;
  giveBack: (note: string | null) => void;
  /** Calls `act` if the connection has control, or when it gets it. Otherwise drops it. */
  whenHeld: (act: () => void) => void;
  /** Calls `act` when every earlier request of the connection has been answered. */
  whenAnswered: (act: () => void) => void;
  /** Notes the end of the connection. @param reason why control ends at once; null if the person may come back. */
  leave: (reason: LeaveReason) => void;
};

export type LeaveReason = Extract<ControlRequest, { type: "leave" }>["reason"];

type ViewerControlDeps = {
  browser: Pick<ApiServices["browser"], "control">;
  control: Pick<BrowserControl, "holderOf" | "stateOf">;
  logger: Pick<Logger, "debug">;
  sessionId: string;
  connectionId: string;
  name: string;
  hasBrowser: boolean;
  notify: (content: NoticeContent) => void;
};

/** How many frames wait while the connection takes control. Further ones are dropped. */
const WAITING_MAX = 500;
/** How often a connection may take control in a minute: each time stores events. */
const TAKES_PER_MINUTE = 30;
const NO_BROWSER = "This session has no browser of its own.";
const TOO_OFTEN = "Control was taken too often; wait a minute.";

/** Creates the control of one connection. */
export function createViewerControl(deps: ViewerControlDeps): ViewerControl {
  const { browser, control, logger, sessionId, connectionId, name, notify } = deps;
  /** The request for control that is under way. */
  let asking: Promise<void> | undefined;
  let waiting = 0;
  let hasLeft = false;
  const takes: number[] = [];
  const hasControl = () => control.holderOf(sessionId) === connectionId;

  async function request(wanted: ControlRequest): Promise<void> {
    try {
      const { state, secret } = await browser.control(sessionId, wanted);
      if (secret !== null) notify({ type: "control.token", data: { token: secret } });
      else if (wanted.type === "resume")
        notify({ type: "control", data: describeControl(state, connectionId) });
    } catch (error) {
      logger.debug({ err: error, sessionId, request: wanted.type }, "a request for control failed");
      if (wanted.type === "take") refuse(`Control could not be taken: ${errorText(error)}`);
    }
  }
  function refuse(problem: string): void {
    const data = describeControl(control.stateOf(sessionId), connectionId);
    notify({ type: "control", data: { ...data, problem } });
  }
  /** Requests are sent one after the other, so that a release never overtakes a take. */
  function ask(wanted: ControlRequest): void {
    const next: Promise<void> = (asking ?? Promise.resolve())
      .then(() => request(wanted))
      .finally(() => {
        if (asking === next) asking = undefined;
      });
    asking = next;
  }
  function whenAnswered(act: () => void): void {
    if (!asking) {
      act();
      return;
    }
    waiting += 1;
    void asking.then(() => {
      waiting -= 1;
      if (!hasLeft) act();
    });
  }
  function mayTake(): boolean {
    const now = performance.now();
    while (takes[0] !== undefined && now - takes[0] > 60_000) takes.shift();
    return takes.length < TAKES_PER_MINUTE && takes.push(now) > 0;
  }

  return {
    take() {
      if (!deps.hasBrowser) return refuse(NO_BROWSER);
      if (!hasControl() && !mayTake()) return refuse(TOO_OFTEN);
      ask({ type: "take", connectionId, name });
    },
    resume: (secret) => ask({ type: "resume", connectionId, name, secret }),
    keep() {
      if (hasControl()) ask({ type: "keep", connectionId });
    },
    stay: () => ask({ type: "stay", connectionId }),
    giveBack(note) {
      if (asking || hasControl()) ask({ type: "give_back", connectionId, note });
    },
    whenHeld(act) {
      if (waiting >= WAITING_MAX) return;
      whenAnswered(() => {
        if (hasControl()) act();
      });
    },
    whenAnswered,
    leave(reason) {
      hasLeft = true;
      if (asking || hasControl()) ask({ type: "leave", connectionId, reason });
    },
  };
}
