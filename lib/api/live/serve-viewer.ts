import type { WebSocket } from "ws";
import type { BrowserInput } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { CLOSE } from "#lib/client/close-codes.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { LiveNotice } from "#lib/page/state/view-types.ts";
import { newId } from "#lib/session/new-id.ts";
import type { LiveClientFrame } from "../contract/schemas/live-frames.ts";
import type { ApiServices } from "../services.ts";
import type { Viewer } from "./admit-viewer.ts";
import { maySend } from "./client-frame.ts";
import { followCursor } from "./follow-cursor.ts";
import { createHeldInput } from "./held-input.ts";
import type { LiveRooms, NoticeContent } from "./live-rooms.ts";
import { sendLog } from "./send-log.ts";
import { encodeNotice } from "./server-frame.ts";
import { createSocketWriter } from "./socket-writer.ts";
import type { WatchList } from "./watch-list.ts";

export type ViewerServices = Pick<ApiServices, "log"> & {
  browser: Pick<ApiServices["browser"], "watch" | "input" | "readCursor">;
  logger: Pick<Logger, "debug" | "error">;
};

/** What all connections share: their numbers, their rooms, and who has control of each browser. */
export type LiveState = { watchers: WatchList; rooms: LiveRooms; control: BrowserControl };

/** Whether a `liveViewUrl` shows events of this kind: those of the browser, and nothing of the conversation. */
const isOfLiveView = (kind: string): boolean => kind.startsWith("browser.") || kind.startsWith("control.");

/** One viewer's side of a connection. */
export type ServedViewer = { receive: (frame: LiveClientFrame) => void; leave: () => void };

/**
 * Serves somebody who was let in: `ready`, the events after `after` (from now on where it is undefined), the live
 * view when asked for, and what the viewer's role may send. Source: `wire.md`, WebSocket.
 */
export function serveViewer(
  services: ViewerServices,
  state: LiveState,
  webSocket: WebSocket,
  viewer: Viewer,
  after: number | undefined,
): ServedViewer {
  const { browser, log, logger } = services;
  const { sessionId, role, scope, hasBrowser, lastSeq } = viewer;
  const writer = createSocketWriter(webSocket);
  const tell = (content: NoticeContent) =>
    // The content's type and data belong together, and so do the notice's.
    writer.send(encodeNotice({ ...content, sessionId, timestamp: new Date().toISOString() } as LiveNotice));
  const driver = createDriver(services, viewer, tell);
  const member = { id: newId("con"), tell, onControlLost: driver.releaseAll };
  let stopPictures: (() => void) | undefined;

  const { watching, leave } = state.watchers.join(sessionId, (count) =>
    tell({ type: "watching", data: { watching: count } }),
  );
  writer.send(
    encodeNotice({
      type: "ready",
      lastSeq,
      sessionId,
      timestamp: new Date().toISOString(),
      data: { role, watching, connectionId: member.id },
    }),
  );
  const leaveRoom = state.rooms.enter(sessionId, member);
  // Who claims to know more than there is begins at the end.
  const stopFollowing = sendLog(log, sessionId, Math.min(after ?? lastSeq, lastSeq), {
    send: writer.send,
    room: writer.room,
    shows: (kind) => scope === "session" || isOfLiveView(kind),
    fail(error) {
      logger.error({ err: error, sessionId }, "the log could not be read for a live connection");
      webSocket.close(CLOSE.broken, "the events could not be read; connect again");
    },
  });

  function hidePage(): void {
    stopPictures?.();
    stopPictures = undefined;
    writer.dropPicture();
  }
  /** Drops the input of a connection without control, so that two people never type into one page. */
  function drive(input: BrowserInput): void {
    if (state.control.holderOf(sessionId) === member.id) driver.drive(input);
  }

  return {
    receive(frame) {
      if (!maySend(role, frame.type)) {
        webSocket.close(CLOSE.forbidden, `the role ${role} may not send ${frame.type}`);
        return;
      }
      switch (frame.type) {
        case "auth":
          return;
        case "ping":
          return tell({ type: "pong", data: {} });
        case "view.subscribe":
          if (hasBrowser)
            stopPictures ??= browser.watch(sessionId, {
              onFrame: writer.sendPicture,
              onPointer: (pointer) => tell({ type: "pointer", data: pointer }),
            });
          return;
        case "view.unsubscribe":
          return hidePage();
        case "control.take":
          return state.control.take(sessionId, member.id);
        case "control.release":
          return state.control.release(sessionId, member.id);
        case "input.mouse":
          return drive({ ...frame, type: "mouse" });
        case "input.wheel":
          return drive({ ...frame, type: "wheel" });
        case "input.key":
          return drive({ ...frame, type: "key" });
        case "input.text":
          return drive({ ...frame, type: "text" });
        case "input.paste":
          return drive({ ...frame, type: "paste" });
      }
    },
    leave() {
      stopFollowing();
      hidePage();
      driver.stop();
      leaveRoom();
      leave();
    },
  };
}

/** Sends a viewer's input to the page, and the page's cursor to the viewer. */
function createDriver(
  { browser, logger }: ViewerServices,
  { sessionId, hasBrowser }: Viewer,
  tell: (content: NoticeContent) => void,
) {
  const held = createHeldInput();
  const cursor = followCursor(
    (x, y) => browser.readCursor(sessionId, x, y),
    (keyword) => tell({ type: "cursor", data: { cursor: keyword } }),
  );
  function act(input: BrowserInput): void {
    if (!hasBrowser) return;
    browser.input(sessionId, input).catch((error) => {
      // The page's own status shows why the browser does not answer.
      logger.debug({ err: error, sessionId }, "an input did not reach the page");
    });
  }
  return {
    drive(input: BrowserInput): void {
      if (input.type === "mouse" && input.action === "move" && hasBrowser) cursor.moveTo(input.x, input.y);
      held.note(input);
      act(input);
    },
    /** Releases the keys and buttons that are still down. */
    releaseAll(): void {
      for (const input of held.releaseAll()) act(input);
    },
    stop: cursor.stop,
  };
}
