import type { WebSocket } from "ws";
import type { BrowserInput } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { CLOSE } from "#lib/client/close-codes.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { LiveNotice } from "#lib/page/state/view-types.ts";
import { newId } from "#lib/session/new-id.ts";
import type { LiveClientFrame } from "../contract/schemas/live-frames.ts";
import type { ApiServices } from "../handlers/services.ts";
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

/** State that all connections share: viewer counts, the connections of each session, and who controls each browser. */
export type LiveState = { watchers: WatchList; rooms: LiveRooms; control: BrowserControl };

/**
 * Whether a viewer with a `liveViewUrl` gets events of this kind. Such a viewer gets events of the browser, but not of
 * the conversation.
 */
const isOfLiveView = (kind: string): boolean => kind.startsWith("browser.") || kind.startsWith("control.");

/** A viewer that is being served. */
export type ServedViewer = { receive: (frame: LiveClientFrame) => void; leave: () => void };

/**
 * Serves an admitted viewer. Sends `ready`, then the events after the number `after` (only new events if undefined),
 * and the live view if the viewer subscribes to it. Handles the viewer's frames; a frame that the viewer's role may not
 * send closes the connection. Source: `wire.md`, WebSocket.
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
  const notify = (content: NoticeContent) =>
    // The cast holds because each variant of `NoticeContent` pairs a type with the data of that type.
    writer.send(encodeNotice({ ...content, sessionId, timestamp: new Date().toISOString() } as LiveNotice));
  const driver = createDriver(services, viewer, notify);
  const member = { id: newId("con"), notify, onControlLost: driver.releaseAll };
  let stopPictures: (() => void) | undefined;

  const { watching, leave } = state.watchers.join(sessionId, (count) =>
    notify({ type: "watching", data: { watching: count } }),
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
  // If `after` is beyond the last event, only new events are sent.
  const stopFollowing = sendLog(log, sessionId, Math.min(after ?? lastSeq, lastSeq), {
    send: writer.send,
    waitForDrain: writer.waitForDrain,
    shows: (kind) => scope === "session" || isOfLiveView(kind),
    fail(error) {
      logger.error({ err: error, sessionId }, "the events of a live connection could not be read");
      webSocket.close(CLOSE.broken, "the events could not be read; connect again");
    },
  });

  function stopView(): void {
    stopPictures?.();
    stopPictures = undefined;
    writer.dropPicture();
  }
  /**
   * Passes input to the page if this connection has control. Otherwise drops the input, because only one person may
   * control the page at a time.
   */
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
          return notify({ type: "pong", data: {} });
        case "view.subscribe":
          if (hasBrowser)
            stopPictures ??= browser.watch(sessionId, {
              onFrame: writer.sendPicture,
              onPointer: (pointer) => notify({ type: "pointer", data: pointer }),
            });
          return;
        case "view.unsubscribe":
          return stopView();
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
      stopView();
      driver.stop();
      leaveRoom();
      leave();
    },
  };
}

/**
 * Creates the driver of a viewer. The driver sends the viewer's input to the page, and the page's cursor to the viewer.
 */
function createDriver(
  { browser, logger }: ViewerServices,
  { sessionId, hasBrowser }: Viewer,
  notify: (content: NoticeContent) => void,
) {
  const held = createHeldInput();
  const cursor = followCursor(
    (x, y) => browser.readCursor(sessionId, x, y),
    (keyword) => notify({ type: "cursor", data: { cursor: keyword } }),
  );
  function act(input: BrowserInput): void {
    if (!hasBrowser) return;
    browser.input(sessionId, input).catch((error) => {
      // Debug level is enough, because `browser.status` events show why the browser does not accept input.
      logger.debug({ err: error, sessionId }, "an input could not be sent to the page");
    });
  }
  return {
    drive(input: BrowserInput): void {
      if (input.type === "mouse" && input.action === "move" && hasBrowser) cursor.moveTo(input.x, input.y);
      held.record(input);
      act(input);
    },
    /** Releases the keys and buttons that are still pressed. */
    releaseAll(): void {
      for (const input of held.releaseAll()) act(input);
    },
    stop: cursor.stop,
  };
}
