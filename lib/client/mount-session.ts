import { createFrameCommands, type FrameCommands } from "./frame-commands.ts";
import {
  enclose,
  type FrameEnd,
  type FrameMessage,
  type FrameState,
  type HostMessage,
  type HostMessageAccepted,
  isEnclosed,
} from "./frame-messages.ts";
import type { AnnotationRecord, Deliverable } from "./wire.ts";

export type MountOptions = {
  /** The service's address, such as `https://agents.example`. */
  baseUrl: string;
  /** The session's `shareUrl`, the path of a share link, or a `liveViewUrl`. */
  shareUrl: string;
  /** What the frame shows. Default `both`; a `liveViewUrl` shows the live view only. */
  view?: "live" | "conversation" | "both" | undefined;
  /** The colors of the frame. By default, those of the person's system. */
  theme?: "light" | "dark" | undefined;
  /** The accessible name of the frame. Default `Agent session`. */
  title?: string | undefined;
  /** Whether the frame gets the height that the conversation needs. By default, it fills its element. */
  fitsContent?: boolean | undefined;
};

/** What a host page knows of a mounted session. A change replaces the object. */
export type MountedState = {
  /** `ended` is final until {@link MountedSession.setLink} gives the frame another link. */
  status: "loading" | "ready" | "ended";
  /** Why the frame shows nothing. `unreachable`: the service did not answer, or does not allow this page's origin. */
  endReason: FrameEnd | "unreachable" | null;
  role: "view" | "comment" | "drive" | null;
  /** The state of the session; null until the frame is ready. */
  session: FrameState | null;
  /** The newest settled result; null if there is none. */
  deliverable: Deliverable | null;
};

/** What listeners of {@link MountedSession.on} get, by event. */
export type MountedEvents = {
  state: MountedState;
  deliverable: Deliverable;
  annotation: AnnotationRecord;
  height: number;
};

export type MountedSession = {
  frame: HTMLIFrameElement;
  getState: () => MountedState;
  /** Calls the listener after each change of the state. @returns a function that unsubscribes. */
  subscribe: (listener: () => void) => () => void;
  /** Calls the listener with each event. @returns a function that removes the listener. */
  on: <Name extends keyof MountedEvents>(
    name: Name,
    listener: (detail: MountedEvents[Name]) => void,
  ) => () => void;
  /** Sends the agent a message. Its turn counts as started by a program. Rejects if the service refuses the message. */
  send: (
    text: string,
    options?: { mode?: "queue" | "steer" | "interrupt" | undefined },
  ) => Promise<HostMessageAccepted>;
  /** Gives the person in the frame control of the live browser. */
  takeOver: () => Promise<void>;
  /** Gives control back to the agent, with an optional note that the agent reads. */
  giveBack: (note?: string) => Promise<void>;
  /** Replaces the link, for example before it expires. The link must be of the same session. */
  setLink: (shareUrl: string) => void;
  /** Removes the frame and every listener. Pending commands reject. */
  destroy: () => void;
};

/** What a mounted session works with. */
type Mount = {
  frame: HTMLIFrameElement;
  /** The origin of the service, with which alone messages are exchanged. */
  origin: string;
  fitsContent: boolean;
  state: MountedState;
  listeners: ReturnType<typeof createListeners>;
  commands: FrameCommands;
  readyTimer: ReturnType<typeof setTimeout> | undefined;
  isDestroyed: boolean;
};

const READY_WITHIN_MS = 30_000;
const NOT_SHOWN = "the frame does not show the session";

/**
 * Shows a session in a frame inside `element`. The origin of the page must be one of the service's `EMBED_ORIGINS`. Uses
 * no cookie and no framework. Source: `wire.md`, Embedding.
 *
 * @throws TypeError if `shareUrl` is no link to a session.
 */
export function mountSession(element: Element, options: MountOptions): MountedSession {
  const { view = "both", theme, title = "Agent session", fitsContent = false } = options;
  const query = new URLSearchParams({ view, ...(theme && { theme }) });
  const addressOf = (shareUrl: string) => frameAddress(options.baseUrl, shareUrl, query);
  const address = addressOf(options.shareUrl);
  const frame = document.createElement("iframe");
  const mount: Mount = {
    frame,
    origin: new URL(address).origin,
    fitsContent,
    state: LOADING,
    listeners: createListeners(),
    commands: createFrameCommands((command) => post(mount, command)),
    readyTimer: undefined,
    isDestroyed: false,
  };
  const receive = (event: MessageEvent<unknown>) => handleMessage(mount, event);
  // The listener comes first, so that no message of the frame is missed.
  window.addEventListener("message", receive);
  awaitReady(mount);
  // With `no-referrer`, browsers would hide the origin of this page from the frame (`ancestorOrigins`).
  const attributes = { title, src: address, referrerPolicy: "strict-origin" };
  Object.assign(frame, { ...attributes, allow: "clipboard-read; clipboard-write" });
  Object.assign(frame.style, { border: "0", width: "100%", height: "100%", display: "block" });
  element.append(frame);

  return {
    ...controlsOf(mount),
    setLink(shareUrl) {
      const next = addressOf(shareUrl);
      if (next.split("#")[0] !== address.split("#")[0])
        throw new TypeError("shareUrl: must be a link to the mounted session");
      if (mount.isDestroyed || next === frame.src) return;
      awaitReady(mount);
      mount.commands.pause();
      change(mount, { status: "loading", endReason: null });
      // Changes only the fragment, so the page of the frame stays and reads the new token.
      frame.src = next;
    },
    destroy() {
      if (mount.isDestroyed) return;
      mount.isDestroyed = true;
      clearTimeout(mount.readyTimer);
      window.removeEventListener("message", receive);
      frame.remove();
      mount.listeners.clear();
      mount.commands.fail("the session was removed from the page");
    },
  };
}

/** Returns the functions of a mounted session that neither replace its link nor end it. */
function controlsOf(mount: Mount): Omit<MountedSession, "setLink" | "destroy"> {
  const { listeners, commands } = mount;
  const run: FrameCommands["run"] = async (command) => {
    if (mount.isDestroyed || mount.state.status === "ended") throw new Error(NOT_SHOWN);
    return commands.run(command);
  };
  return {
    frame: mount.frame,
    getState: () => mount.state,
    subscribe: (listener) => listeners.add("state", () => listener()),
    on: listeners.add,
    async send(text, { mode } = {}) {
      const accepted = await run({ type: "send", text, ...(mode && { mode }) });
      if (!accepted) throw new Error("the frame gave no answer to the message");
      return accepted;
    },
    async takeOver() {
      await run({ type: "takeOver" });
    },
    async giveBack(note) {
      await run({ type: "giveBack", ...(note !== undefined && { note }) });
    },
  };
}

/** Applies a message of the frame. Messages of other windows and of other origins are ignored. */
function handleMessage(mount: Mount, { source, origin, data }: MessageEvent<unknown>): void {
  if (source === null || source !== mount.frame.contentWindow || origin !== mount.origin || !isEnclosed(data))
    return;
  const { listeners, commands } = mount;
  // The cast holds because only the service's own page has this origin. Messages of other types are ignored.
  const message = data as FrameMessage;
  switch (message.type) {
    case "hello":
      // The frame has loaded, perhaps again: its page knows no command that was sent before.
      commands.restart();
      if (mount.state.status !== "loading") {
        awaitReady(mount);
        change(mount, { status: "loading", endReason: null });
      }
      post(mount, { type: "hello" });
      break;
    case "ready":
      clearTimeout(mount.readyTimer);
      change(mount, {
        status: "ready",
        endReason: null,
        role: message.role,
        session: message.state,
        deliverable: message.deliverable,
      });
      commands.resume();
      break;
    case "state":
      change(mount, { session: message.state });
      break;
    case "deliverable":
      change(mount, { deliverable: message.deliverable });
      listeners.emit("deliverable", message.deliverable);
      break;
    case "annotation":
      listeners.emit("annotation", message.annotation);
      break;
    case "height":
      if (mount.fitsContent) mount.frame.style.height = `${message.height}px`;
      listeners.emit("height", message.height);
      break;
    case "ended":
      end(mount, message.reason);
      break;
    case "result":
      commands.settle(message);
  }
}

function post({ frame, origin }: Mount, message: HostMessage): void {
  frame.contentWindow?.postMessage(enclose(message), origin);
}

function change(mount: Mount, next: Partial<MountedState>): void {
  mount.state = { ...mount.state, ...next };
  mount.listeners.emit("state", mount.state);
}

function end(mount: Mount, endReason: MountedState["endReason"]): void {
  clearTimeout(mount.readyTimer);
  mount.commands.pause();
  change(mount, { status: "ended", endReason, session: null });
  mount.commands.fail(NOT_SHOWN);
}

function awaitReady(mount: Mount): void {
  clearTimeout(mount.readyTimer);
  mount.readyTimer = setTimeout(() => end(mount, "unreachable"), READY_WITHIN_MS);
}

const LOADING: MountedState = {
  status: "loading",
  endReason: null,
  role: null,
  session: null,
  deliverable: null,
};

/** Returns the address of the frame. The token is in the fragment, which browsers never send. */
function frameAddress(baseUrl: string, shareUrl: string, query: URLSearchParams): string {
  const link = new URL(shareUrl, baseUrl);
  const [, path, sessionId] = /^(.*)\/s\/([^/]+)(?:\/live)?\/?$/.exec(link.pathname) ?? [];
  const token = link.searchParams.get("key");
  if (sessionId === undefined || token === null || !/^https?:$/.test(link.protocol))
    throw new TypeError("shareUrl: must be a link to a session, such as /s/ses_…?key=…");
  return `${link.origin}${path}/embed/${sessionId}?${query}#key=${encodeURIComponent(token)}`;
}

/** Creates the listeners of a mounted session. An error of one listener does not affect the others. */
function createListeners() {
  const all = new Map<keyof MountedEvents, Set<(detail: never) => void>>();
  return {
    add<Name extends keyof MountedEvents>(name: Name, listener: (detail: MountedEvents[Name]) => void) {
      // A function of its own, so that the same listener can be added twice and removed separately.
      const own = (detail: MountedEvents[Name]) => listener(detail);
      const listeners = all.get(name) ?? new Set();
      all.set(name, listeners.add(own));
      return () => void listeners.delete(own);
    },
    emit<Name extends keyof MountedEvents>(name: Name, detail: MountedEvents[Name]): void {
      for (const listener of [...(all.get(name) ?? [])])
        try {
          // The cast holds because `add` stores the listeners of each name together.
          (listener as (detail: MountedEvents[Name]) => void)(detail);
        } catch (error) {
          reportError(error);
        }
    },
    clear: () => all.clear(),
  };
}
