import { receiveCommand, untilLessIsOpen } from "./relay-commands.ts";
import { passEvent } from "./relay-events.ts";
import { installRef, passGate } from "./relay-refs.ts";
import {
  type FoundNode,
  guard,
  type PageRelayOptions,
  type Relay,
  terminateWhenQuiet,
} from "./relay-state.ts";
import { createShownIds, readRecord } from "./shown-ids.ts";

/** A script's connection to the session's pages. */
export type PageRelay = {
  /**
   * Checks one message of the script and forwards, answers or refuses it. Resolves when the relay can take the next
   * message: not while a ref is being installed, or while the browser has to answer too many commands.
   * @param bytes the size of the message.
   */
  fromScript: (message: unknown, bytes?: number) => Promise<void>;
  /**
   * Makes the element of a ref, such as `e7`, available to the script's Playwright. Later DevTools messages of the
   * script wait until the element is available. Resolves when the installation has begun.
   * @param find finds the element's frame and DevTools node id, or returns undefined if the element is gone.
   */
  installRef: (ref: string, find: () => Promise<FoundNode | undefined>) => Promise<void>;
  /**
   * Shows the script the session's other pages, in addition to the current one.
   * @returns how many pages the script can see.
   */
  showOtherPages: () => Promise<number>;
  /** Number of pages that the script was shown and that are still open. */
  pageCount: () => number;
  /** Whether the script changed the size of a page. The browser resets the size when the connection closes. */
  hasResized: () => boolean;
  /**
   * Stops accepting messages of the script. Closes the connection as soon as the page has handled all input that the
   * script sent. Resolves when the connection is closed.
   */
  close: () => Promise<void>;
};

/**
 * Connects a script to the session's pages, and to nothing else in the browser. The script sees the current page first,
 * then the other tabs, with their frames and workers. `admitCommand` checks every command. The script is treated as
 * hostile: its messages may be malformed.
 * @throws Error when the browser cannot be reached or the page is gone.
 */
export async function connectPageRelay(options: PageRelayOptions): Promise<PageRelay> {
  const socket = await options.openDevtools(options.connectTimeoutMs ?? 5_000, {
    // `relay` is assigned before the first event, because the browser sends events only after a command that enables
    // them.
    onEvent: (event) => guard(relay, () => passEvent(relay, event)),
    onClose: options.onClose,
  });
  const { targetInfo } = await socket
    .ask("Target.getTargetInfo", { targetId: options.targetId })
    .catch((error) => {
      socket.terminate();
      throw error;
    });
  const relay: Relay = {
    options,
    socket,
    pageInfo: readRecord(targetInfo),
    sessions: new Map(),
    targets: new Map(),
    pageOf: new Map(),
    ids: createShownIds(),
    refs: new Map(),
    gate: undefined,
    isAttached: false,
    isResized: false,
    isClosing: false,
    pendingInputs: 0,
    open: { commands: 0, bytes: 0, onLess() {} },
  };
  return {
    async fromScript(message, bytes = 0) {
      while (relay.gate) await relay.gate;
      guard(relay, () => receiveCommand(relay, message, bytes));
      await untilLessIsOpen(relay);
    },
    async installRef(ref, find) {
      while (relay.gate) await relay.gate;
      // If the ref cannot be installed, the script's locator fails with an error message about the ref.
      passGate(relay, () => installRef(relay, ref, find).catch(() => {}));
    },
    async showOtherPages() {
      // The browser now reports existing pages as if they had just been created, so `followBrowserEvent` shows them.
      await socket.ask("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
      await Promise.allSettled(relay.targets.values());
      return relay.targets.size;
    },
    pageCount: () => relay.targets.size,
    hasResized: () => relay.isResized,
    close() {
      relay.isClosing = true;
      terminateWhenQuiet(relay);
      return socket.closed;
    },
  };
}
