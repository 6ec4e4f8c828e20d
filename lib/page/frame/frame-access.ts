import { type ActionOutcome, callAction } from "../actions/call-action.ts";
import type { SessionSnapshot } from "../state/session-snapshot.ts";

/** What the page of a frame loads first. */
export type Frame = {
  scope: "session" | "live-view";
  /** Origins whose pages may show the frame. */
  origins: string[];
  /** Those of them that the link names; null if it names none. */
  linkOrigins: string[] | null;
  snapshot: SessionSnapshot;
};

/**
 * How the page of a frame proves its access: with the token from the fragment of its address, in a header, and never
 * with a cookie. Source: `wire.md`, Embedding.
 */
export type FrameAccess = {
  fetch: typeof fetch;
  /** The headers of requests that `fetch` does not send. */
  headers: Readonly<Record<string, string>>;
  /** Opens the socket of the live connection and sends the token in its first frame. */
  openSocket: (url: string) => WebSocket;
  /** Reads a stored file. Undefined if it could not be read. */
  readStored: (path: string, signal?: AbortSignal) => Promise<Blob | undefined>;
  /** Adds the token to the address of another page of the service, which exchanges it for a cookie. */
  linkTo: (path: string) => string;
};

const TOKEN_HEADER = "x-share-token";

/** Reads the token from the fragment of the page's address: `#key=<token>`. */
export function readFragmentToken(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, "")).get("key");
  return token === null || token === "" ? undefined : token;
}

/** Creates the access of a frame. */
export function createFrameAccess(token: string): FrameAccess {
  const send: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set(TOKEN_HEADER, token);
    return fetch(input, { ...init, headers, credentials: "omit" });
  };
  return {
    headers: { [TOKEN_HEADER]: token },
    fetch: send,
    async readStored(path, signal) {
      try {
        const response = await send(path, signal ? { signal } : {});
        return response.ok ? await response.blob() : undefined;
      } catch {
        return undefined;
      }
    },
    openSocket(url) {
      const address = new URL(url);
      address.searchParams.set("auth", "frame");
      const socket = new WebSocket(address.href);
      socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", token })));
      return socket;
    },
    linkTo(path) {
      const [address = "", fragment] = path.split("#");
      const link = `${address}${address.includes("?") ? "&" : "?"}key=${encodeURIComponent(token)}`;
      return fragment === undefined ? link : `${link}#${fragment}`;
    },
  };
}

/** Loads what the frame shows at first. */
export const readFrame = (access: FrameAccess, sessionId: string): Promise<ActionOutcome<Frame>> =>
  callAction<Frame>(access.fetch, "GET", `/s/${encodeURIComponent(sessionId)}/actions/frame`);
