import { CLOSE } from "./close-codes.ts";
import type { LiveClientFrame } from "./wire.ts";

/** How the live connection stands; `closed` is final, with the reason in the service's own terms. */
export type LiveStatus =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "reconnecting"; attempt: number; isOverloaded: boolean }
  | { state: "closed"; reason: "unauthorized" | "forbidden" | "not found" | "left" };

/** Close codes after which another try would end the same way. */
const FINAL_CODES: Record<number, "unauthorized" | "forbidden" | "not found"> = {
  [CLOSE.unauthorized]: "unauthorized",
  [CLOSE.forbidden]: "forbidden",
  [CLOSE.notFound]: "not found",
};
/** What the browser says of a connection that broke without a close frame. */
const BROKE_OFF = 1006;
const PING_EVERY_MS = 20_000;
/** Silence after which a connection counts as lost: two pings went unanswered. */
const SILENCE_MAX_MS = 45_000;

export type LiveConnection = {
  start: () => void;
  /** Sends a frame where the connection is open. @returns whether it was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /** Follows the live view, over reconnections too, or stops following it. */
  setViewing: (isViewing: boolean) => void;
  /** Tries now instead of waiting the backoff out: the network is back. */
  retryNow: () => void;
  stop: () => void;
};

/** What the connection needs from the page around it. */
type LiveConnectionOptions<Frame extends { type: string }> = {
  /** `snapshot.paths.live`: absolute or same-origin. */
  path: string;
  /** Origin of the page, `https://…`. */
  origin: string;
  /** The last event known: a connection resumes after it; undefined for from now on. */
  lastSeq: () => number | undefined;
  onFrame: (frame: Frame) => void;
  onPicture: (frame: ArrayBuffer) => void;
  onStatus: (status: LiveStatus) => void;
  /**
   * Asked when a connection breaks off before the service has let it in, because browsers do not tell a refusal from a
   * lost network: whether the page may still be opened. A rejection leaves the question open.
   */
  hasAccess?: () => Promise<boolean>;
  openSocket?: (url: string) => WebSocket;
  random?: () => number;
};

/**
 * Keeps a WebSocket to a session open: resumes after the last event, pings, and reconnects with a growing, jittered
 * wait (0.5 s to 15 s) until it is let in or turned away for good.
 */
export function createLiveConnection<Frame extends { type: string }>(
  options: LiveConnectionOptions<Frame>,
): LiveConnection {
  const { openSocket = (url) => new WebSocket(url), random = Math.random } = options;
  let socket: WebSocket | undefined;
  let attempt = 0;
  let isViewing = false;
  let isStopped = true;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pingTimer: ReturnType<typeof setInterval> | undefined;
  let heardAtMs = 0;
  let starts = 0;

  function connect(): void {
    clearTimeout(retryTimer);
    if (attempt === 0) options.onStatus({ state: "connecting" });
    const opened = openSocket(liveUrl(options));
    let wasLetIn = false;
    opened.binaryType = "arraybuffer";
    socket = opened;
    opened.addEventListener("open", () => {
      heardAtMs = Date.now();
      pingTimer = setInterval(checkPulse, PING_EVERY_MS);
      if (isViewing) send({ type: "view.subscribe" });
    });
    opened.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      heardAtMs = Date.now();
      if (typeof data !== "string") return options.onPicture(data);
      const frame = parseFrame<Frame>(data);
      if (!frame) return;
      // Only `ready` proves that the service let this connection in.
      if (frame.type === "ready") {
        attempt = 0;
        wasLetIn = true;
        options.onStatus({ state: "open" });
      }
      options.onFrame(frame);
    });
    opened.addEventListener("close", ({ code }) => {
      if (socket !== opened) return;
      lose(code);
      if (code === BROKE_OFF && !wasLetIn) void closeWithoutAccess();
    });
  }

  async function closeWithoutAccess(): Promise<void> {
    const askedIn = starts;
    const mayReturn = await options.hasAccess?.().catch(() => true);
    // A later start, with another cookie, is not judged by this answer.
    if (mayReturn !== false || isStopped || askedIn !== starts) return;
    stop();
    options.onStatus({ state: "closed", reason: "unauthorized" });
  }

  function lose(code: number): void {
    clearInterval(pingTimer);
    socket = undefined;
    if (isStopped) return;
    const reason = FINAL_CODES[code];
    if (reason) {
      isStopped = true;
      options.onStatus({ state: "closed", reason });
      return;
    }
    attempt += 1;
    const isOverloaded = code === CLOSE.tryLater;
    options.onStatus({ state: "reconnecting", attempt, isOverloaded });
    const waitMs = Math.min(15_000, (isOverloaded ? 4_000 : 500) * 2 ** (attempt - 1));
    retryTimer = setTimeout(connect, waitMs * (0.8 + 0.4 * random()));
  }

  function checkPulse(): void {
    if (Date.now() - heardAtMs > SILENCE_MAX_MS) {
      const lost = socket;
      lose(BROKE_OFF);
      lost?.close();
      return;
    }
    send({ type: "ping" });
  }

  function send(frame: LiveClientFrame): boolean {
    // 1 is OPEN; the constant's home differs between browsers and Node.
    if (socket?.readyState !== 1) return false;
    socket.send(JSON.stringify(frame));
    return true;
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(retryTimer);
    clearInterval(pingTimer);
    const left = socket;
    socket = undefined;
    left?.close(1000);
  }

  return {
    start() {
      if (!isStopped) return;
      isStopped = false;
      starts += 1;
      attempt = 0;
      connect();
    },
    send,
    setViewing(viewing) {
      if (viewing === isViewing) return;
      isViewing = viewing;
      send({ type: viewing ? "view.subscribe" : "view.unsubscribe" });
    },
    retryNow() {
      if (!isStopped && !socket) connect();
    },
    stop,
  };
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
    return JSON.parse(text) as Frame; // Our own service wrote it; a kind the page does not know is passed over.
  } catch {
    return undefined;
  }
}
