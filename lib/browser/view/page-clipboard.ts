import type { CDPSession } from "playwright";
import { callInjected, callWithHandles, type IsolatedWorld } from "#lib/injected/call-injected.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserInput, CopiedContent, InputGate, PastedItem } from "../browser-service.ts";
import { createFrameSessions, type SendCommand } from "../overlay/locate/frame-sessions.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import { type ActionOutcome, DONE, refuseAction } from "../stage/stage-state.ts";

/** Copies out of a page and pastes into it, for the person who has control. */
export type PageClipboard = {
  /** Sends an input to the page. While the page copies or pastes, the input waits, so that it comes after that. */
  push: (input: BrowserInput, mayPass: InputGate) => Promise<void>;
  /** @see HostBrowsers.copy */
  copy: (action: "copy" | "cut", mayPass?: InputGate) => Promise<CopiedContent | null>;
  /** @see HostBrowsers.paste */
  paste: (items: readonly PastedItem[], mayPass?: InputGate) => Promise<ActionOutcome>;
};

type ClipboardOptions = {
  mainFrameId: () => string;
  openDevtools: Devtools["open"];
  /** Sends an input to the page, or to its overlay. */
  push: (input: BrowserInput, mayPass: InputGate) => Promise<void>;
  /** Whether a comment of the overlay is being written, which gets all text then. */
  isCommenting: () => boolean;
};

const ALWAYS: InputGate = () => true;
const WORLD = "agent-session-clipboard";
const COPY_MS_MAX = 10_000;
/** A busy machine takes seconds for the largest files. */
const PASTE_MS_MAX = 30_000;
const DEPTH_MAX = 16;
/** Longer content is neither copied nor cut. */
const COPIED_CHARS_MAX = 1_000_000;
const CONTROL = 2;
/**
 * How many inputs, and how many further copies and pastes, may wait for one. Further ones are dropped. A copy or paste waits
 * for as many inputs.
 */
const WAITING_MAX = 500;
const EXCLUSIVE_MAX = 20;
/** How long a copy or paste waits at most until the page has handled the input before it. */
const HANDLED_MS_MAX = 1_000;
const TOO_MANY = refuseAction(`${EXCLUSIVE_MAX} copies and pastes wait for the page already`);

/** @see PageClipboard */
export function createPageClipboard(cdp: CDPSession, options: ClipboardOptions): PageClipboard {
  const { push } = options;
  const turns = createTurns();

  /** Does something in the document with the focus, and gives up if the page does not answer in time. */
  async function inFocused<Result>(ms: number, act: (world: IsolatedWorld) => Promise<Result>) {
    const frames = createFrameSessions(options.openDevtools);
    const work = findFocusedWorld(cdp.send.bind(cdp), options.mainFrameId(), frames).then(act);
    try {
      return await createDeadline({ ms, lateMessage: "the page does not answer" }).race(work);
    } finally {
      frames.close();
    }
  }

  const copy = (action: "copy" | "cut", mayPass: InputGate) =>
    inFocused(COPY_MS_MAX, async (world) => {
      await callInjected(world, "clipboard", "beginCopy", [COPIED_CHARS_MAX]);
      const [key, code] = action === "copy" ? ["c", "KeyC"] : ["x", "KeyX"];
      // The event of the clipboard is part of what the key does in the page.
      await push({ type: "key", action: "down", key, code, modifiers: CONTROL }, mayPass);
      await push({ type: "key", action: "up", key, code, modifiers: CONTROL }, mayPass);
      return callInjected(world, "clipboard", "endCopy", []);
    });
  async function paste(items: readonly PastedItem[], mayPass: InputGate): Promise<ActionOutcome> {
    const pasted = { type: "paste", text: textOf(items) } as const;
    // The text that the page's document does not take by itself.
    let rest: string | null = pasted.text;
    if (!options.isCommenting()) {
      try {
        rest = await inFocused(PASTE_MS_MAX, async (world) =>
          mayPass(pasted) ? callInjected(world, "clipboard", "paste", [items.map(toInjected)]) : null,
        );
      } catch (error) {
        return refuseAction(
          `the page did not take what was pasted: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
    if (rest !== null) await push({ type: "paste", text: rest }, mayPass);
    return DONE;
  }
  return {
    push: (input, mayPass) => turns.pass(() => push(input, mayPass)),
    copy: (action, mayPass = ALWAYS) => turns.exclusive(null, () => copy(action, mayPass)),
    paste: (items, mayPass = ALWAYS) => turns.exclusive(TOO_MANY, () => paste(items, mayPass)),
  };
}

/**
 * Lets work with several steps happen alone, in the order of the calls: after the page has handled the input before it,
 * and before the input after it. DevTools keeps the order of input, but runs code in the page before input that still
 * waits there: a paste would come before the click that gives a field the focus.
 */
function createTurns() {
  /** What has been passed and is not handled yet, also while it waits for exclusive work. */
  const unhandled = new Set<Promise<void>>();
  /** The end of the exclusive work that was called last. It never fails. */
  let ended: Promise<unknown> = Promise.resolve();
  let exclusives = 0;
  let waiting = 0;
  return {
    async pass(act: () => Promise<void>): Promise<void> {
      if (exclusives > 0 && waiting >= WAITING_MAX) return;
      waiting += 1;
      const handling = ended.then(() => {
        waiting -= 1;
        return act();
      });
      // A page that hangs handles nothing, and a person may move the mouse over it for long.
      if (unhandled.size >= WAITING_MAX) return handling;
      unhandled.add(handling);
      return handling.finally(() => unhandled.delete(handling));
    },
    async exclusive<Result>(dropped: Result, act: () => Promise<Result>): Promise<Result> {
      if (exclusives >= EXCLUSIVE_MAX) return dropped;
      exclusives += 1;
      const earlier = Promise.allSettled(unhandled);
      const own = ended.then(async () => {
        await createDeadline({ ms: HANDLED_MS_MAX }).settles(earlier);
        return act();
      });
      ended = own
        .catch(() => {})
        .finally(() => {
          exclusives -= 1;
        });
      return own;
    },
  };
}

const textOf = (items: readonly PastedItem[]): string =>
  items.flatMap((item) => (item.kind === "text" && item.type === "text/plain" ? [item.text] : [])).join("");

const toInjected = (item: PastedItem) =>
  item.kind === "text"
    ? item
    : {
        kind: item.kind,
        type: item.type,
        name: item.name,
        base64: Buffer.from(item.bytes).toString("base64"),
      };

/** Creates an isolated world in the document with the focus, which may be that of a frame. */
async function findFocusedWorld(
  page: SendCommand,
  mainFrameId: string,
  frames: ReturnType<typeof createFrameSessions>,
): Promise<IsolatedWorld> {
  let send = page;
  let world = await createWorld(send, mainFrameId);
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const frameId = await findFocusedFrame(world);
    if (frameId === undefined) break;
    // A frame of another site has a session of its own.
    send = (await frames.open(frameId)) ?? send;
    world = await createWorld(send, frameId);
  }
  return world;
}

async function createWorld(send: SendCommand, frameId: string): Promise<IsolatedWorld> {
  const { executionContextId } = await send("Page.createIsolatedWorld", { frameId, worldName: WORLD });
  return { session: { send }, contextId: executionContextId };
}

/** Returns the id of the frame that has the focus inside a document; undefined if the document itself has it. */
async function findFocusedFrame(world: IsolatedWorld): Promise<string | undefined> {
  const { objectId } = await callWithHandles(world, "clipboard", "focusedElement", []);
  if (objectId === undefined) return undefined;
  const { node } = await world.session.send("DOM.describeNode", { objectId });
  await world.session.send("Runtime.releaseObject", { objectId });
  return /^I?FRAME$/.test(node.nodeName) ? node.frameId : undefined;
}
