import type { BrowserInput } from "../browser-service.ts";
import { virtualKeyCode } from "./virtual-key-code.ts";

/** One DevTools command of the `Input` domain. */
export type InputCommand =
  | { method: "Input.dispatchMouseEvent"; params: MouseParams }
  | { method: "Input.dispatchKeyEvent"; params: KeyParams }
  | { method: "Input.dispatchTouchEvent"; params: TouchParams }
  | { method: "Input.insertText"; params: { text: string } }
  | {
      method: "Input.imeSetComposition";
      params: { text: string; selectionStart: number; selectionEnd: number };
    };

type Button = "left" | "middle" | "right" | "none";

type MouseParams = {
  type: "mouseMoved" | "mousePressed" | "mouseReleased" | "mouseWheel";
  x: number;
  y: number;
  modifiers: number;
  button?: Button;
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
  autoRepeat?: boolean;
  commands?: string[];
};

type TouchParams = {
  type: "touchStart" | "touchMove" | "touchEnd" | "touchCancel";
  touchPoints: { id: number; x: number; y: number }[];
  modifiers: number;
};

type Mouse = Extract<BrowserInput, { type: "mouse" }>;
type Wheel = Extract<BrowserInput, { type: "wheel" }>;
type Key = Extract<BrowserInput, { type: "key" }>;
type Touch = Extract<BrowserInput, { type: "touch" }>;

/**
 * Converts an input into the command that sends it to the page.
 *
 * @param pressed the mouse buttons that are pressed after the input, as a bit field: left 1, right 2, middle 4.
 */
export function toCommand(input: BrowserInput, pressed: number): InputCommand {
  switch (input.type) {
    case "mouse":
      return mouseCommand(input, pressed);
    case "wheel":
      return wheelCommand(input);
    case "key":
      return keyCommand(input);
    case "touch":
      return touchCommand(input);
    case "compose": {
      const { text, selectionStart, selectionEnd } = input;
      return { method: "Input.imeSetComposition", params: { text, selectionStart, selectionEnd } };
    }
    case "text":
    case "paste":
      return { method: "Input.insertText", params: { text: input.text } };
  }
}

/**
 * Converts the coordinates of a command from CSS pixels of the page's picture to what DevTools expects.
 *
 * @param factors.view how many pixels a CSS pixel of the page has in its window.
 * @param factors.zoom how far people have zoomed into the page with two fingers.
 */
export function scaleCommand(
  command: InputCommand,
  { view, zoom }: { view: number; zoom: number },
): InputCommand {
  const factor = view / zoom;
  const place = <Point extends { x: number; y: number }>(point: Point): Point => ({
    ...point,
    x: point.x * factor,
    y: point.y * factor,
  });
  switch (command.method) {
    case "Input.dispatchMouseEvent":
      return { ...command, params: place(command.params) };
    case "Input.dispatchTouchEvent":
      return {
        ...command,
        params: { ...command.params, touchPoints: command.params.touchPoints.map(place) },
      };
    default:
      return command;
  }
}

const MOUSE_TYPES = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;

function mouseCommand({ action, x, y, modifiers, button, clickCount }: Mouse, buttons: number): InputCommand {
  const type = MOUSE_TYPES[action];
  const isMove = action === "move";
  return {
    method: "Input.dispatchMouseEvent",
    params: {
      type,
      x,
      y,
      modifiers,
      // Chromium selects and drags only if the move names a pressed button.
      button: isMove ? firstOf(buttons) : button,
      buttons,
      clickCount: isMove ? 0 : clickCount,
    },
  };
}

const firstOf = (buttons: number): Button =>
  buttons & 1 ? "left" : buttons & 2 ? "right" : buttons & 4 ? "middle" : "none";

function wheelCommand({ x, y, deltaX, deltaY, modifiers }: Wheel): InputCommand {
  return {
    method: "Input.dispatchMouseEvent",
    params: { type: "mouseWheel", x, y, deltaX, deltaY, modifiers },
  };
}

const TOUCH_TYPES = {
  start: "touchStart",
  move: "touchMove",
  end: "touchEnd",
  cancel: "touchCancel",
} as const;

function touchCommand({ action, points, modifiers }: Touch): InputCommand {
  const touchPoints = points.map(({ id, x, y }) => ({ id, x, y }));
  return {
    method: "Input.dispatchTouchEvent",
    params: { type: TOUCH_TYPES[action], touchPoints, modifiers },
  };
}

const CONTROL = 2;
const META = 4;

function keyCommand(input: Key): InputCommand {
  const { key, code, modifiers, commands } = input;
  const common = { key, code, modifiers, windowsVirtualKeyCode: virtualKeyCode(key, code) };
  if (input.action === "up")
    return { method: "Input.dispatchKeyEvent", params: { type: "keyUp", ...common } };
  const down = {
    ...common,
    ...(input.isRepeat && { autoRepeat: true }),
    ...(commands && commands.length > 0 && { commands: [...commands] }),
  };
  const text = input.text ?? textOf(key, modifiers);
  if (text === undefined)
    return { method: "Input.dispatchKeyEvent", params: { type: "rawKeyDown", ...down } };
  return { method: "Input.dispatchKeyEvent", params: { type: "keyDown", ...down, text } };
}

/** The text that a key types if the client has not said so. */
function textOf(key: string, modifiers: number): string | undefined {
  if (key === "Enter") return "\r";
  const isCharacter = [...key].length === 1;
  // A client that does not say the text of AltGr characters would type the letters of Ctrl+Alt shortcuts.
  return isCharacter && (modifiers & (CONTROL | META)) === 0 ? key : undefined;
}
