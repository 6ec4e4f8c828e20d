import type { BrowserInput } from "../browser-service.ts";
import { virtualKeyCode } from "./virtual-key-code.ts";

/** One DevTools command of the `Input` domain. */
export type InputCommand =
  | { method: "Input.dispatchMouseEvent"; params: MouseParams }
  | { method: "Input.dispatchKeyEvent"; params: KeyParams }
  | { method: "Input.insertText"; params: { text: string } };

type MouseParams = {
  type: "mouseMoved" | "mousePressed" | "mouseReleased" | "mouseWheel";
  x: number;
  y: number;
  modifiers: number;
  button?: "left" | "middle" | "right" | "none";
  buttons?: number;
  clickCount?: number;
  deltaX?: number;
  deltaY?: number;
};

type KeyParams = {
  type: "keyDown" | "rawKeyDown" | "keyUp";
  key: string;
  code: string;
  modifiers: number;
  windowsVirtualKeyCode: number;
  text?: string;
};

/** Sends the input of people to the page in order. */
export type InputQueue = { push: (input: BrowserInput) => Promise<void> };

type Move = Extract<BrowserInput, { type: "mouse" }>;
type Wheel = Extract<BrowserInput, { type: "wheel" }>;

/**
 * How many inputs the page may leave unanswered. Further input is dropped, because people do not type that far ahead.
 * Mouse moves and wheel turns do not count and are not dropped.
 */
const UNANSWERED_MAX = 500;

const BUTTON_BITS = { none: 0, left: 1, right: 2, middle: 4 } as const;

/**
 * Creates a queue for the input of a page. While the page is busy, mouse moves are merged into one, and so are wheel
 * turns. All other input is sent immediately, after the latest move and wheel turn. The queue does not wait for the
 * answer to these two, because DevTools keeps the order.
 *
 * @param send resolves when the page has handled the event.
 */
export function createInputQueue(send: (command: InputCommand) => Promise<unknown>): InputQueue {
  let move: Move | undefined;
  let wheel: Wheel | undefined;
  let isMoving = false;
  let isTurning = false;
  let pressed = 0;
  let unanswered = 0;

  async function sendMoves(): Promise<void> {
    isMoving = true;
    while (move) {
      const next = move;
      move = undefined;
      await send(mouseCommand(next, pressed)).catch(() => {});
    }
    isMoving = false;
  }
  async function sendWheels(): Promise<void> {
    isTurning = true;
    while (wheel) {
      const next = wheel;
      wheel = undefined;
      await send(wheelCommand(next)).catch(() => {});
    }
    isTurning = false;
  }
  function flush(): void {
    if (move) void send(mouseCommand(move, pressed)).catch(() => {});
    if (wheel) void send(wheelCommand(wheel)).catch(() => {});
    move = undefined;
    wheel = undefined;
  }

  return {
    async push(input) {
      if (input.type === "mouse" && input.action === "move") {
        move = input;
        if (!isMoving) await sendMoves();
        return;
      }
      if (input.type === "wheel") {
        wheel = wheel
          ? { ...input, deltaX: wheel.deltaX + input.deltaX, deltaY: wheel.deltaY + input.deltaY }
          : input;
        if (!isTurning) await sendWheels();
        return;
      }
      if (unanswered >= UNANSWERED_MAX) return;
      flush();
      if (input.type === "mouse") {
        const bit = BUTTON_BITS[input.button];
        pressed = input.action === "down" ? pressed | bit : pressed & ~bit;
      }
      unanswered += 1;
      try {
        await send(discreteCommand(input, pressed));
      } finally {
        unanswered -= 1;
      }
    },
  };
}

function discreteCommand(input: Exclude<BrowserInput, Wheel>, pressed: number): InputCommand {
  switch (input.type) {
    case "mouse":
      return mouseCommand(input, pressed);
    case "key":
      return keyCommand(input);
    case "text":
    case "paste":
      return { method: "Input.insertText", params: { text: input.text } };
  }
}

function mouseCommand(input: Move, buttons: number): InputCommand {
  const { x, y, modifiers, button, clickCount } = input;
  const type =
    input.action === "move" ? "mouseMoved" : input.action === "down" ? "mousePressed" : "mouseReleased";
  return {
    method: "Input.dispatchMouseEvent",
    params: { type, x, y, modifiers, button, buttons, clickCount: input.action === "move" ? 0 : clickCount },
  };
}

function wheelCommand({ x, y, deltaX, deltaY, modifiers }: Wheel): InputCommand {
  return {
    method: "Input.dispatchMouseEvent",
    params: { type: "mouseWheel", x, y, deltaX, deltaY, modifiers },
  };
}

const CONTROL_OR_META = 2 | 4;

function keyCommand(input: Extract<BrowserInput, { type: "key" }>): InputCommand {
  const { key, code, modifiers } = input;
  const common = { key, code, modifiers, windowsVirtualKeyCode: virtualKeyCode(key, code) };
  if (input.action === "up")
    return { method: "Input.dispatchKeyEvent", params: { type: "keyUp", ...common } };
  const types = (modifiers & CONTROL_OR_META) === 0;
  const text = input.text ?? (key === "Enter" ? "\r" : types && [...key].length === 1 ? key : undefined);
  if (text === undefined)
    return { method: "Input.dispatchKeyEvent", params: { type: "rawKeyDown", ...common } };
  return { method: "Input.dispatchKeyEvent", params: { type: "keyDown", ...common, text } };
}
