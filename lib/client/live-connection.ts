import { CLOSE } from "./close-codes.ts";
import type { LiveClientFrame } from "./wire.ts";

/**
 * The status of a live connection. In state `closed`, the connection does not reconnect; `reason` says why it was
 * closed.
 */
export type LiveStatus =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "reconnecting"; attempt: number; isOverloaded: boolean }
  | { state: "closed"; reason: "unauthorized" | "forbidden" | "not found" | "left" };

/** The client does not reconnect after these close codes, because the service would refuse the connection again. */
const FINAL_CODES: Record<number, "unauthorized" | "forbidden" | "not found"> = {
  [CLOSE.unauthorized]: "unauthorized",
  [CLOSE.forbidden]: "forbidden",
  [CLOSE.notFound]: "not found",
};
/** The close code that browsers report for a connection that ended without a close frame. */
const ABNORMAL_CLOSURE = 1006;
const PING_EVERY_MS = 10_000;
/** A connection that receives no message within this time after a ping counts as lost, also if it is still open. */
const ANSWER_WITHIN_MS = 8_000;
/** A socket counts as lost if the service has not accepted it within this time. */
const ACCEPT_WITHIN_MS = 20_000;

export type LiveConnection = {
  start: () => void;
  /** Sends a frame if the connection is open. @returns whether the frame was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /**
   * Turns the live view on or off. A reconnect does not change the setting. With `viewsStage`, the service also sends what
   * the live browser shows besides its picture.
   */
  setViewing: (isViewing: boolean) => void;
  /** Reconnects at once instead of waiting for the next attempt. Call it when the network is available again. */
  retryNow: () => void;
  stop: () => void;
};

/** Settings and callbacks of a live connection. */
type LiveConnectionOptions<Frame extends { type: string }> = {
  /** URL of the socket, absolute or relative to `origin`. */
  path: string;
  /** Origin against which a relative `path` is resolved, such as `https://example.com`. */
  origin: string;
  /**
   * Returns the sequence number of the last event received. The connection resumes after that event. If the number is
   * undefined, the service sends only new events.
   */
  lastSeq: () => number | undefined;
  onFrame: (frame: Frame) => void;
  onPicture: (frame: ArrayBuffer) => void;
  onStatus: (status: LiveStatus) => void;
  /**
   * Checks whether the visitor still has access to the page. A rejected promise counts as true. The function is called
   * when a connection ends without a close frame before its `ready` frame, because browsers report a refusal in the
   * same way as a lost network.
   */
  hasAccess?: () => Promise<boolean>;
  /** Whether the caller shows dialogs, lists and file choosers of the live browser. Pages then wait for answers. */
  viewsStage?: boolean;
  openSocket?: (url: string) => WebSocket;
  random?: () => number;
};

/**
 * `start` changes `stopped` to `attached`. A lost connection changes `attached` to `waiting`; the next connection
 * attempt changes `waiting` to `attached`. A final close code or `stop` changes any state to `stopped`.
 */
type State =
  | { name: "stopped" }
  | { name: "attached"; attachment: Attachment }
  | { name: "waiting"; retryTimer: ReturnType<typeof setTimeout> };

/** The current socket and its state. */
type Attachment = {
  socket: WebSocket;
  /** Whether the `ready` frame has arrived. Only this frame shows that the service accepted the connection. */
  isAccepted: boolean;
  lastMessageAtMs: number;
  pingTimer?: ReturnType<typeof setInterval>;
  /** Set until the service has accepted the socket, and while the answer to a ping is awaited. */
  answerTimer?: ReturnType<typeof setTimeout>;
};

type Session<Frame extends { type: string }> = {
  options: LiveConnectionOptions<Frame>;
  state: State;
  /** Number of lost connections since the last `ready` frame or the last call of `start`, whichever came later. */
  attempt: number;
  isViewing: boolean;
  /**
   * How often `start` has started the connection. The result of an access check is ignored if this number has changed
   * during the check.
   */
  starts: number;
};

/**
 * Creates a live connection, that is, a WebSocket to a session. The connection sends a ping every 10 s, and counts as
 * lost if nothing arrives within 8 s after it. After a loss, it opens a
 * new socket and resumes after the last event. The delay before the new socket grows from 0.5 s, or from 4 s if the
 * service is overloaded, up to 15 s, and varies randomly by ±20 %. A final close code, the loss of access
 * (`hasAccess`) or `stop` ends the connection.
 */
export function createLiveConnection<Frame extends { type: string }>(
  options: LiveConnectionOptions<Frame>,
): LiveConnection {
  const session: Session<Frame> = {
    options,
    state: { name: "stopped" },
    attempt: 0,
    isViewing: false,
    starts: 0,
  };
  return {
    start() {
      if (session.state.name !== "stopped") return;
      session.starts += 1;
      session.attempt = 0;
      connect(session);
    },
    send: (frame) => send(session, frame),
    setViewing(isViewing) {
      if (isViewing === session.isViewing) return;
      session.isViewing = isViewing;
      send(session, isViewing ? subscription(session) : { type: "view.unsubscribe" });
    },
    retryNow() {
      if (session.state.name === "waiting") connect(session);
    },
    stop: () => stop(session),
  };
}

/** Changes the state and clears the timers of the previous state. No other code changes the state. */
function enter(session: Pick<Session<never>, "state">, next: State): void {
  const last = session.state;
  if (last.name === "waiting") clearTimeout(last.retryTimer);
  if (last.name === "attached") {
    clearInterval(last.attachment.pingTimer);
    clearTimeout(last.attachment.answerTimer);
  }
  session.state = next;
}

function connect<Frame extends { type: string }>(session: Session<Frame>): void {
  const { options } = session;
  const { openSocket = (url) => new WebSocket(url) } = options;
  const socket = openSocket(liveUrl(options));
  socket.binaryType = "arraybuffer";
  const attachment: Attachment = { socket, isAccepted: false, lastMessageAtMs: Date.now() };
  enter(session, { name: "attached", attachment });
  if (session.attempt === 0) options.onStatus({ state: "connecting" });
  // A replaced socket can still deliver events. They must be ignored.
  const isCurrent = () => session.state.name === "attached" && session.state.attachment === attachment;

  attachment.answerTimer = setTimeout(() => abandon(session, attachment), ACCEPT_WITHIN_MS);
  socket.addEventListener("open", () => {
    if (!isCurrent()) return;
    attachment.lastMessageAtMs = Date.now();
    attachment.pingTimer = setInterval(() => ping(session, attachment), PING_EVERY_MS);
    if (session.isViewing) send(session, subscription(session));
  });
  socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (!isCurrent()) return;
    attachment.lastMessageAtMs = Date.now();
    if (typeof data === "string") receive(session, attachment, data);
    else options.onPicture(data);
  });
  socket.addEventListener("close", ({ code }) => {
    if (!isCurrent()) return;
    handleLoss(session, code);
    if (code === ABNORMAL_CLOSURE && !attachment.isAccepted) void closeWithoutAccess(session);
  });
}

const subscription = ({
  options,
}: {
  options: Pick<LiveConnectionOptions<never>, "viewsStage">;
}): LiveClientFrame => ({ type: "view.subscribe", ...(options.viewsStage && { stage: true }) });

function receive<Frame extends { type: string }>(
  session: Session<Frame>,
  attachment: Attachment,
  text: string,
): void {
  const { options } = session;
  const frame = parseFrame<Frame>(text);
  if (!frame) return;
  if (frame.type === "ready") {
    session.attempt = 0;
    attachment.isAccepted = true;
    clearTimeout(attachment.answerTimer);
    options.onStatus({ state: "open" });
  }
  options.onFrame(frame);
}

/**
 * Stops the connection if the visitor no longer has access to the page. Only `hasAccess` can tell, because browsers
 * report a refusal in the same way as a lost network.
 */
async function closeWithoutAccess<Frame extends { type: string }>(session: Session<Frame>): Promise<void> {
  const { options, starts } = session;
  const hasAccess = await options.hasAccess?.().catch(() => true);
  // The answer is ignored if `start` was called again during the check, because the browser may have a new cookie by
  // then.
  if (hasAccess !== false || session.state.name === "stopped" || starts !== session.starts) return;
  stop(session);
  options.onStatus({ state: "closed", reason: "unauthorized" });
}

/**
 * Handles the loss of a socket. A final close code stops the connection; after any other code, the next attempt is
 * scheduled.
 */
function handleLoss<Frame extends { type: string }>(session: Session<Frame>, code: number): void {
  const { onStatus, random = Math.random } = session.options;
  const reason = FINAL_CODES[code];
  if (reason) {
    enter(session, { name: "stopped" });
    onStatus({ state: "closed", reason });
    return;
  }
  session.attempt += 1;
  const { attempt } = session;
  const isOverloaded = code === CLOSE.tryLater;
  const delayMs = Math.min(15_000, (isOverloaded ? 4_000 : 500) * 2 ** (attempt - 1));
  const retryTimer = setTimeout(() => connect(session), delayMs * (0.8 + 0.4 * random()));
  enter(session, { name: "waiting", retryTimer });
  onStatus({ state: "reconnecting", attempt, isOverloaded });
}

/**
 * Sends a ping. If no message arrives within {@link ANSWER_WITHIN_MS}, closes the socket and schedules a reconnect. The
 * time is counted from the ping, because browsers run the timers of a hidden page late.
 */
function ping<Frame extends { type: string }>(session: Session<Frame>, attachment: Attachment): void {
  if (!attachment.isAccepted) return;
  const pingedAtMs = Date.now();
  send(session, { type: "ping" });
  clearTimeout(attachment.answerTimer);
  attachment.answerTimer = setTimeout(() => {
    if (attachment.lastMessageAtMs < pingedAtMs) abandon(session, attachment);
  }, ANSWER_WITHIN_MS);
}

/** Gives up a socket that is silent but not closed. Its own close event may come much later, and is ignored. */
function abandon<Frame extends { type: string }>(session: Session<Frame>, attachment: Attachment): void {
  handleLoss(session, ABNORMAL_CLOSURE);
  // With a code of its own: a connection that is closed without one gives control of the browser back.
  attachment.socket.close(CLOSE.silent);
}

function send({ state }: Pick<Session<never>, "state">, frame: LiveClientFrame): boolean {
  // 1 is `WebSocket.OPEN`. The constant is not used, because some runtimes have no global `WebSocket`.
  if (state.name !== "attached" || state.attachment.socket.readyState !== 1) return false;
  state.attachment.socket.send(JSON.stringify(frame));
  return true;
}

function stop(session: Pick<Session<never>, "state">): void {
  const last = session.state;
  enter(session, { name: "stopped" });
  if (last.name === "attached") last.attachment.socket.close(1000);
}

function liveUrl({
  path,
  origin,
  lastSeq,
}: Pick<LiveConnectionOptions<never>, "path" | "origin" | "lastSeq">): string {
  const url = new URL(path, origin);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const after = lastSeq();
  if (after !== undefined) url.searchParams.set("after", String(after));
  return url.href;
}

function parseFrame<Frame>(text: string): Frame | undefined {
  try {
    // The cast holds because the service sends these frames. Callers ignore frames of unknown types.
    return JSON.parse(text) as Frame;
  } catch {
    return undefined;
  }
}
