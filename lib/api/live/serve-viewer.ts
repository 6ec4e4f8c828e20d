import type { WebSocket } from "ws";
import type { BrowserInput, PastedItem, ViewportChange } from "#lib/browser/browser-service.ts";
import type { StageAction } from "#lib/browser/stage/stage-state.ts";
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
import type { LiveRooms, NoticeContent } from "./live-rooms.ts";
import { sendLog } from "./send-log.ts";
import { encodeNotice } from "./server-frame.ts";
import { createSocketWriter } from "./socket-writer.ts";
import { createViewerControl, type LeaveReason } from "./viewer-control.ts";
import { createViewerPictures } from "./viewer-pictures.ts";
import type { WatchList } from "./watch-list.ts";

export type ViewerServices = Pick<ApiServices, "log"> & {
  browser: Pick<
    ApiServices["browser"],
    "watch" | "drive" | "act" | "copy" | "paste" | "setViewport" | "control" | "readCursor"
  >;
  logger: Pick<Logger, "debug" | "error">;
};

/** State that all connections share: viewer counts, the connections of each session, and who controls each browser. */
export type LiveState = { watchers: WatchList; rooms: LiveRooms; control: BrowserControl };

/**
 * Whether a viewer with a `liveViewUrl` gets events of this kind. Such a viewer gets events of the browser, but not of
 * the conversation.
 */
const isOfLiveView = (kind: string): boolean => kind.startsWith("browser.");

/** A viewer that is being served. */
export type ServedViewer = {
  receive: (frame: LiveClientFrame) => void;
  /** Ends the service. @param reason why the viewer's control ends at once; null if the viewer may come back. */
  leave: (reason: LeaveReason) => void;
};

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
  const { sessionId, role, scope, lastSeq } = viewer;
  const writer = createSocketWriter(webSocket);
  const notify = (content: NoticeContent) =>
    // The cast holds because each variant of `NoticeContent` pairs a type with the data of that type.
    writer.send(encodeNotice({ ...content, sessionId, timestamp: new Date().toISOString() } as LiveNotice));
  const connectionId = newId("con");
  const driver = createDriver(services, viewer, connectionId, notify);
  const { hasBrowser, name } = viewer;
  const control = createViewerControl({
    browser,
    control: state.control,
    logger,
    sessionId,
    connectionId,
    name,
    hasBrowser,
    notify,
  });
  const member = { id: connectionId, notify, stay: control.stay };
  const { control: known } = state;
  const { dropPicture } = writer;
  const pictures = createViewerPictures({ browser, control: known, sessionId, connectionId, dropPicture });

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

  /** Passes input to the page if this connection has control: only one person may control the page at a time. */
  const drive = (input: BrowserInput) => control.whenHeld(() => driver.drive(input));
  /** Does what this connection wants with the browser if it has control. The next `stage` frame shows the effect. */
  const act = (action: StageAction) => control.whenHeld(() => driver.act(action));

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
          return control.whenAnswered(() => notify({ type: "pong", data: {} }));
        case "view.subscribe":
          if (hasBrowser)
            pictures.start({
              onFrame: writer.sendPicture,
              onPointer: (pointer) => notify({ type: "pointer", data: pointer }),
              ...(frame.stage && { onStage: (stage) => notify({ type: "stage", data: stage }) }),
            });
          return;
        case "view.unsubscribe":
          return pictures.stop();
        case "control.take":
          return control.take();
        case "control.resume":
          return control.resume(frame.token);
        case "control.keep":
          return control.keep();
        case "control.release":
          return control.giveBack(frame.note?.trim() || null);
        case "input.mouse":
          return drive({ ...frame, type: "mouse" });
        case "input.wheel":
          return drive({ ...frame, type: "wheel" });
        case "input.key":
          return drive({ ...frame, type: "key" });
        case "input.text":
          return drive({ ...frame, type: "text" });
        case "input.paste":
          if (frame.isEvent !== true) return drive({ type: "paste", text: frame.text });
          return control.whenHeld(() => driver.paste(frame.text, frame.html));
        case "input.touch":
          return drive({ ...frame, type: "touch" });
        case "input.compose":
          return drive({ ...frame, type: "compose" });
        case "input.copy":
          return control.whenHeld(() => void driver.copy(frame.action, frame.id));
        case "viewport.set":
          return control.whenHeld(() => driver.setViewport({ size: frame.size, scale: frame.scale }));
        case "input.widget":
          return act({ type: "answer", widgetId: frame.widgetId, answer: frame.answer });
        case "input.tab":
          return act({ type: frame.action === "show" ? "showTab" : "closeTab", tabId: frame.tabId });
        case "input.stop":
          return act({ type: "stop" });
      }
    },
    leave(reason) {
      stopFollowing();
      pictures.stop();
      driver.stop();
      control.leave(reason);
      leaveRoom();
      leave();
    },
  };
}

/**
 * Creates the driver of a viewer. The driver sends the viewer's input and actions to the browser, and the page's cursor to the viewer.
 */
function createDriver(
  { browser, logger }: ViewerServices,
  { sessionId, hasBrowser }: Viewer,
  connectionId: string,
  notify: (content: NoticeContent) => void,
) {
  const cursor = followCursor(
    (x, y) => browser.readCursor(sessionId, x, y),
    (keyword) => notify({ type: "cursor", data: { cursor: keyword } }),
  );
  // Debug level is enough, because `browser.status` events show why the browser does not accept input.
  const report = (error: unknown) =>
    logger.debug({ err: error, sessionId }, "an input could not be sent to the page");
  return {
    drive(input: BrowserInput): void {
      if (!hasBrowser) return;
      if (input.type === "mouse" && input.action === "move") cursor.moveTo(input.x, input.y);
      browser.drive(sessionId, connectionId, input).catch(report);
    },
    act(action: StageAction): void {
      if (hasBrowser) browser.act(sessionId, connectionId, action).catch(report);
    },
    /** Copies what is selected in the page, and sends it to this viewer only. */
    async copy(action: "copy" | "cut", id: number): Promise<void> {
      const copied = hasBrowser ? await browser.copy(sessionId, connectionId, action).catch(report) : null;
      notify({ type: "clipboard", data: { id, text: copied?.text ?? null, html: copied?.html ?? null } });
    },
    paste(text: string, html: string | undefined): void {
      const items: PastedItem[] = [{ kind: "text", type: "text/plain", text }];
      if (html !== undefined) items.push({ kind: "text", type: "text/html", text: html });
      if (!hasBrowser) return;
      browser
        .paste(sessionId, connectionId, items)
        .then((outcome) => {
          if (!outcome.isDone) report(outcome.reason);
        })
        .catch(report);
    },
    setViewport(change: ViewportChange): void {
      if (hasBrowser) browser.setViewport(sessionId, connectionId, change).catch(report);
    },
    stop: cursor.stop,
  };
}
