import {
  enclose,
  type FrameMessage,
  HOST_TEXT_CHARS_MAX,
  type HostCommand,
  isEnclosed,
} from "#lib/client/frame-messages.ts";

/** The parts of a window that a link to the host page needs. */
export type FrameWindow = Pick<Window, "addEventListener" | "removeEventListener"> & {
  parent: Pick<Window, "postMessage">;
  location: { ancestorOrigins?: ArrayLike<string> };
};

/**
 * Exchanges messages with the page around the frame, and with no other window. Source: `security.md`, Frames.
 *
 * Browsers say which origins are around a frame (`ancestorOrigins`), unless the page around it hides its own with its
 * referrer policy. Where they do not, the host page's own `hello` does: the origin of a message cannot be forged.
 */
export type HostLink = {
  /**
   * Resolves once the origin of the host page is known, with whether it and every other known origin around the frame is
   * one of `origins`. Only then does the link pass messages.
   */
  allow: (origins: readonly string[]) => Promise<boolean>;
  /** Sends a message to the host page. Drops it until the host page is allowed. */
  post: (message: FrameMessage) => void;
  /** Sends a message without any data of the session, also to a host page that is not allowed. */
  postNotice: (message: Extract<FrameMessage, { type: "hello" | "ended" }>) => void;
  close: () => void;
};

/** What browsers state in place of an origin that a page hides. */
const HIDDEN = "null";
const ID_CHARS_MAX = 100;
const NOTE_CHARS_MAX = 1_000;

/** Creates the link. @param onCommand is called with each command of an allowed host page. */
export function createHostLink(view: FrameWindow, onCommand: (command: HostCommand) => void): HostLink {
  const ancestors = Array.from(view.location.ancestorOrigins ?? []);
  const { promise: parentOrigin, resolve: learnOrigin } = Promise.withResolvers<string>();
  let origin: string | undefined;
  if (ancestors[0] !== undefined && ancestors[0] !== HIDDEN) learnOrigin(ancestors[0]);

  function receive({ source, origin: from, data }: MessageEvent<unknown>): void {
    if (source !== view.parent || !isEnclosed(data)) return;
    if (data.type === "hello") learnOrigin(from);
    const command = origin !== undefined && from === origin ? parseCommand(data) : undefined;
    if (command) onCommand(command);
  }
  view.addEventListener("message", receive);

  return {
    async allow(origins) {
      const parent = await parentOrigin;
      const isAllowed = [parent, ...ancestors.filter((each) => each !== HIDDEN)].every((each) =>
        origins.includes(each),
      );
      origin = isAllowed ? parent : undefined;
      return isAllowed;
    },
    post(message) {
      if (origin !== undefined) view.parent.postMessage(enclose(message), origin);
    },
    postNotice: (message) => view.parent.postMessage(enclose(message), "*"),
    close() {
      origin = undefined;
      view.removeEventListener("message", receive);
    },
  };
}

/** Parses a command of the host page. Undefined for anything else. */
function parseCommand(data: { type: string }): HostCommand | undefined {
  const { type, id, text, mode, note } = data as Record<string, unknown>;
  if (typeof id !== "string" || id === "" || id.length > ID_CHARS_MAX) return undefined;
  if (type === "takeOver") return { type, id };
  if (type === "giveBack") {
    if (note === undefined) return { type, id };
    return typeof note === "string" && note.length <= NOTE_CHARS_MAX ? { type, id, note } : undefined;
  }
  if (type !== "send" || typeof text !== "string" || text.length > HOST_TEXT_CHARS_MAX) return undefined;
  if (mode !== undefined && mode !== "queue" && mode !== "steer" && mode !== "interrupt") return undefined;
  return { type, id, text, mode };
}
