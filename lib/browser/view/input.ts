import { setTimeout as pause } from "node:timers/promises";
import type { BrowserInput, InputGate } from "../browser-service.ts";
import { type InputCommand, toCommand } from "./input-command.ts";

/** Sends the input of people to the page in order. `mayPass` is asked once, when the queue takes the input. */
type InputQueue = { push: (input: BrowserInput, mayPass: InputGate) => Promise<void> };

type Move = Extract<BrowserInput, { type: "mouse" }>;
type Wheel = Extract<BrowserInput, { type: "wheel" }>;
type Touch = Extract<BrowserInput, { type: "touch" }>;

/** Input that replaces, or adds to, input of its kind that the page has not taken yet. */
type Merged = { mouse: Move | undefined; wheel: Wheel | undefined; touch: Touch | undefined };
type MergedKind = keyof Merged;

/**
 * How many inputs the page may leave unanswered. Further input is dropped, because people do not type that far ahead.
 * Moves of the mouse and of fingers, and wheel turns, do not count and are not dropped.
 */
const UNANSWERED_MAX = 500;

/** How long the end of a drag waits at most for the page to handle its moves. */
const DRAG_MS_MAX = 1_000;

/** Waits for an answer of the page, but not for long. */
async function waitAtMost(answer: Promise<unknown>): Promise<void> {
  await Promise.race([answer.catch(() => {}), pause(DRAG_MS_MAX, undefined, { ref: false })]);
}

const BUTTON_BITS = { none: 0, left: 1, right: 2, middle: 4 } as const;

/**
 * Creates a queue for the input of a page. While the page is busy, moves of the mouse are merged into one, and so are
 * moves of fingers and wheel turns. All other input is sent immediately, after what was merged. The queue does not wait
 * for the answer to that, because DevTools keeps the order.
 *
 * Drags are different, because Chromium plays a native drag only if the page handles input step by step. It cancels a drag
 * that begins with the first move after the press, drops nothing where no move arrived since the drag began, and loses
 * clicks until the drop has ended. So a drag begins with a move at the place of the press, the release waits for the
 * moves and for one more at its place, and all later input waits for the answer to the release. Source: decision 113.
 *
 * @param send resolves when the page has handled the event.
 */
export function createInputQueue(send: (command: InputCommand) => Promise<unknown>): InputQueue {
  const merged: Merged = { mouse: undefined, wheel: undefined, touch: undefined };
  const sending = new Set<MergedKind>();
  let pressed = 0;
  let unanswered = 0;
  /** Whether the mouse has moved since a button was pressed. */
  let hasDragged = false;
  /** A move at the place of the press, until a drag has begun with it. */
  let atPress: Move | undefined;
  /** The moves of the mouse that the page has not handled. */
  let moving: Promise<void> = Promise.resolve();
  /** The end of a drag that input waits for, and how many inputs wait. */
  let drag: Promise<void> | undefined;
  let waiting = 0;

  function take(kind: MergedKind): Promise<unknown> | undefined {
    let input = merged[kind];
    if (input && kind === "mouse" && atPress) {
      input = atPress;
      atPress = undefined;
    } else merged[kind] = undefined;
    return input && send(toCommand(input, pressed)).catch(() => {});
  }
  async function sendMerged(kind: MergedKind): Promise<void> {
    if (sending.has(kind)) return;
    sending.add(kind);
    for (let sent = take(kind); sent; sent = take(kind)) await sent;
    sending.delete(kind);
  }
  function flush(): void {
    for (const kind of ["mouse", "wheel", "touch"] as const) while (take(kind));
  }

  async function endDrag(at: Move): Promise<void> {
    hasDragged = false;
    await moving;
    await send(toCommand({ ...at, action: "move" }, pressed)).catch(() => {});
  }
  async function sendNow(input: BrowserInput): Promise<void> {
    if (unanswered >= UNANSWERED_MAX) return;
    flush();
    if (input.type === "mouse") {
      const bit = BUTTON_BITS[input.button];
      pressed = input.action === "down" ? pressed | bit : pressed & ~bit;
      hasDragged = false;
      atPress = input.action === "down" ? { ...input, action: "move" } : undefined;
    }
    unanswered += 1;
    try {
      await send(toCommand(input, pressed));
    } finally {
      unanswered -= 1;
    }
  }
  async function pass(input: BrowserInput): Promise<void> {
    if (input.type === "mouse" && input.action === "move") {
      merged.mouse = input;
      hasDragged = pressed !== 0;
      if (!sending.has("mouse")) moving = sendMerged("mouse");
      return moving;
    }
    if (input.type === "touch" && input.action === "move") {
      merged.touch = input;
      return sendMerged("touch");
    }
    if (input.type === "wheel") {
      const { wheel } = merged;
      merged.wheel = wheel
        ? { ...input, deltaX: wheel.deltaX + input.deltaX, deltaY: wheel.deltaY + input.deltaY }
        : input;
      return sendMerged("wheel");
    }
    if (input.type !== "mouse" || input.action !== "up" || !hasDragged) return sendNow(input);
    const ended = waitAtMost(endDrag(input));
    const sent = ended.then(() => sendNow(input));
    drag = ended
      .then(() => waitAtMost(sent))
      .finally(() => {
        drag = undefined;
      });
    return sent;
  }

  return {
    async push(input, mayPass) {
      if (drag && waiting >= UNANSWERED_MAX) return;
      waiting += 1;
      // What waits with this input may begin and end another drag.
      while (drag) await drag;
      waiting -= 1;
      if (mayPass(input)) await pass(input);
    },
  };
}
