import { CLOSE } from "./close-codes.ts";
import type { LiveClientFrame } from "./wire.ts";

/** The status of the live connection. `closed` is final and carries the reason. */
export type LiveStatus =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "reconnecting"; attempt: number; isOverloaded: boolean }
  | { state: "closed"; reason: "unauthorized" | "forbidden" | "not found" | "left" };

/** Close codes after which a retry would end the same way. */
const FINAL_CODES: Record<number, "unauthorized" | "forbidden" | "not found"> = {
  [CLOSE.unauthorized]: "unauthorized",
  [CLOSE.forbidden]: "forbidden",
  [CLOSE.notFound]: "not found",
};
/** The browser's close code for a connection that ended without a close frame. */
const ABNORMAL_CLOSURE = 1006;
const PING_EVERY_MS = 20_000;
/** A connection this long without a message counts as lost: two pings were not answered. */
const SILENCE_MAX_MS = 45_000;

export type LiveConnection = {
  start: () => void;
  /** Sends a frame if the connection is open. @returns whether it was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /** Subscribes to the live view, across reconnects, or unsubscribes. */
  setViewing: (isViewing: boolean) => void;
  /** Reconnects now, without waiting for the backoff: the network is back. */
  retryNow: () => void;
  stop: () => void;
};

/** What the connection needs from its caller. */
type LiveConnectionOptions<Frame extends { type: string }> = {
  /** `snapshot.paths.live`: absolute or same-origin. */
  path: string;
  /** Origin of the page, `https://…`. */
  origin: string;
  /** The last event received: a connection resumes after it. Undefined for new events only. */
  lastSeq: () => number | undefined;
  onFrame: (frame: Frame) => void;
  onPicture: (frame: ArrayBuffer) => void;
  onStatus: (status: LiveStatus) => void;
  /**
   * Tells whether the page may still be opened. It is called when a connection ends before the service accepted it,
   * because browsers report a refusal like a lost network. A rejected promise counts as true.
   */
  hasAccess?: () => Promise<boolean>;
  openSocket?: (url: string) => WebSocket;
  random?: () => number;
};

/** `stopped` → `attached` → (a lost connection) `waiting` → `attached` …; a final close code leads back to `stopped`. */
type State =
  | { name: "stopped" }
  | { name: "attached"; attachment: Attachment }
  | { name: "waiting"; retryTimer: ReturnType<typeof setTimeout> };

/** One socket, until it closes or is given up. */
type Attachment = {
  socket: WebSocket;
  /** Set by the `ready` frame: only that proves that the service accepted the connection. */
  isAccepted: boolean;
  lastMessageAtMs: number;
  pingTimer?: ReturnType<typeof setInterval>;
};

type Session<Frame extends { type: string }> = {
  options: LiveConnectionOptions<Frame>;
  state: State;
  /** Lost connections since the last accepted one. */
  attempt: number;
  isViewing: boolean;
  /** Counts the calls of `start`, to recognize answers that belong to an earlier one. */
  starts: number;
};

/**
 * Keeps a WebSocket to a session open: it resumes after the last event, sends pings, and reconnects with a growing,
 * jittered delay (0.5 s to 15 s) until the service accepts the connection or closes it with a final code.
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
      send(session, { type: isViewing ? "view.subscribe" : "view.unsubscribe" });
    },
    retryNow() {
      if (session.state.name === "waiting") connect(session);
    },
    stop: () => stop(session),
  };
}

/** The only place that changes the state; it clears the timers of the previous state. */
function enter(session: Pick<Session<never>, "state">, next: State): void {
  const last = session.state;
  if (last.name === "waiting") clearTimeout(last.retryTimer);
  if (last.name === "attached") clearInterval(last.attachment.pingTimer);
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
  // A socket that the connection has given up may still deliver events.
  const isCurrent = () => session.state.name === "attached" && session.state.attachment === attachment;

  socket.addEventListener("open", () => {
    if (!isCurrent()) return;
    attachment.lastMessageAtMs = Date.now();
    attachment.pingTimer = setInterval(() => checkSilence(session, attachment), PING_EVERY_MS);
    if (session.isViewing) send(session, { type: "view.subscribe" });
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
    options.onStatus({ state: "open" });
  }
  options.onFrame(frame);
}

/** Stops if the page may no longer be opened: browsers report a refusal like a lost network. */
async function closeWithoutAccess<Frame extends { type: string }>(session: Session<Frame>): Promise<void> {
  const { options, starts } = session;
  const hasAccess = await options.hasAccess?.().catch(() => true);
  // A later start may have a new cookie, so this answer does not apply to it.
  if (hasAccess !== false || session.state.name === "stopped" || starts !== session.starts) return;
  stop(session);
  options.onStatus({ state: "closed", reason: "unauthorized" });
}

/** Handles the loss of a socket: stops after a final close code, and schedules the next attempt after any other. */
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

/** Sends a ping, or gives up the socket after {@link SILENCE_MAX_MS} without a message. */
function checkSilence<Frame extends { type: string }>(session: Session<Frame>, attachment: Attachment): void {
  if (Date.now() - attachment.lastMessageAtMs <= SILENCE_MAX_MS) {
    send(session, { type: "ping" });
    return;
  }
  handleLoss(session, ABNORMAL_CLOSURE);
  attachment.socket.close();
}

function send({ state }: Pick<Session<never>, "state">, frame: LiveClientFrame): boolean {
  // 1 is OPEN; the constant is in different places in browsers and Node.
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
    // The frame comes from the service. The page ignores frames of unknown types.
    return JSON.parse(text) as Frame;
  } catch {
    return undefined;
  }
}
