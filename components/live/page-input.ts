import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import { commandToControl, type KeyPress, type PageKey, toPageKey } from "./key-map.ts";
import { buttonOf, modifiersOf, type pointInPage } from "./page-point.ts";

type Point = ReturnType<typeof pointInPage>;
type Mouse = Pick<MouseEvent, "button" | "detail" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;
type Wheel = Mouse & Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode">;
type Frame<Type extends LiveClientFrame["type"]> = Extract<LiveClientFrame, { type: Type }>;
type Button = ReturnType<typeof buttonOf>;
type TouchAction = Frame<"input.touch">["action"];

/** Sends a person's input in the live view to the page. */
export type PageInput = {
  move: (at: Point, event: Mouse) => void;
  press: (at: Point, event: Mouse, action: "down" | "up") => void;
  wheel: (at: Point, event: Wheel) => void;
  touch: (action: TouchAction, points: Frame<"input.touch">["points"]) => void;
  key: (event: KeyPress, action: "down" | "up") => void;
  /** Presses and releases a key without modifiers. */
  tap: (key: string) => void;
  text: (text: string) => void;
  /** Shows the text that an input method is composing. */
  compose: (text: string) => void;
  /** Releases everything that is still pressed. Called when the person leaves the live view. */
  release: () => void;
};

type Options = {
  /** Whether the person has the keyboard of a Mac. */
  isApple: boolean;
  /** Runs a callback before the next drawn frame. */
  soon?: (callback: () => void) => void;
};

/** Pixels of a wheel turn by its `deltaMode`: pixels, lines and pages. */
const WHEEL_PIXELS = [1, 16, 400];

/**
 * Sends input over the live connection. Moves of the mouse and of fingers, and wheel events, wait until just before the
 * next drawn frame. Then only the last positions and the sum of the wheel deltas are sent. Other input does not wait;
 * before it, what waits is sent.
 */
export function createPageInput(
  send: (frame: LiveClientFrame) => void,
  { isApple, soon = (callback) => requestAnimationFrame(callback) }: Options,
): PageInput {
  let move: Frame<"input.mouse"> | undefined;
  let wheel: Frame<"input.wheel"> | undefined;
  let touch: Frame<"input.touch"> | undefined;
  let isScheduled = false;
  /** The keys that are pressed in the page, by the `code` of the person's key. */
  const pressedKeys = new Map<string, PageKey>();
  const pressedButtons = new Map<number, { button: Button; at: Point }>();
  let areFingersDown = false;
  let isComposing = false;

  function flush(): void {
    isScheduled = false;
    if (move) send(move);
    if (wheel) send(wheel);
    if (touch) send(touch);
    move = undefined;
    wheel = undefined;
    touch = undefined;
  }
  function flushSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    soon(flush);
  }
  const modifiers = (event: Mouse) => (isApple ? commandToControl(modifiersOf(event)) : modifiersOf(event));
  function sendKey({ key, code, text, commands, ...rest }: PageKey, action: "down" | "up", isRepeat = false) {
    const frame = { type: "input.key", action, key, code, ...rest } as const;
    if (action === "up") return send(frame);
    send({
      ...frame,
      ...(text !== undefined && { text }),
      ...(commands && { commands }),
      ...(isRepeat && { isRepeat }),
    });
  }

  return {
    move(at, event) {
      move = {
        type: "input.mouse",
        action: "move",
        ...at,
        button: "none",
        clickCount: 0,
        modifiers: modifiers(event),
      };
      flushSoon();
    },
    press(at, event, action) {
      // Further buttons go back and forward in the person's own browser.
      if (event.button > 2) return;
      flush();
      // On a Mac, a click with Control is a click with the right button.
      const isSecondary = isApple && event.button === 0 && event.ctrlKey;
      const held = pressedButtons.get(event.button);
      const button = held?.button ?? (isSecondary ? "right" : buttonOf(event.button));
      if (action === "down") pressedButtons.set(event.button, { button, at });
      else if (!pressedButtons.delete(event.button)) return;
      const clickCount = Math.max(1, event.detail);
      send({ type: "input.mouse", action, ...at, button, clickCount, modifiers: modifiers(event) });
    },
    wheel(at, event) {
      const pixels = WHEEL_PIXELS[event.deltaMode] ?? 1;
      const deltaX = (wheel?.deltaX ?? 0) + event.deltaX * pixels;
      const deltaY = (wheel?.deltaY ?? 0) + event.deltaY * pixels;
      wheel = { type: "input.wheel", ...at, deltaX, deltaY, modifiers: modifiers(event) };
      flushSoon();
    },
    touch(action, points) {
      const frame: Frame<"input.touch"> = { type: "input.touch", action, points, modifiers: 0 };
      if (action === "move") {
        touch = frame;
        flushSoon();
        return;
      }
      flush();
      areFingersDown = points.length > 0;
      send(frame);
    },
    key(event, action) {
      flush();
      const { code } = event;
      if (action === "up") {
        // Ignores the release of a key that was pressed elsewhere, such as the key that moved the focus to the live view.
        const pressed = pressedKeys.get(code);
        if (!pressedKeys.delete(code) || !pressed) return;
        sendKey(
          { key: pressed.key, code: pressed.code, modifiers: toPageKey(event, isApple).modifiers },
          "up",
        );
        return;
      }
      const pressed = toPageKey(event, isApple);
      sendKey(pressed, "down", event.repeat);
      // A Mac does not report the release of a key while ⌘ is pressed.
      if (isApple && event.metaKey && event.key !== "Meta") sendKey(pressed, "up");
      else pressedKeys.set(code, pressed);
    },
    tap(key) {
      flush();
      const pressed: PageKey = { key, code: key, modifiers: 0, ...(key === "Enter" && { text: "\r" }) };
      sendKey(pressed, "down");
      sendKey(pressed, "up");
    },
    text(text) {
      if (!text) return;
      isComposing = false;
      send({ type: "input.text", text });
    },
    compose(text) {
      if (!text && !isComposing) return;
      isComposing = text !== "";
      const end = text.length;
      send({ type: "input.compose", text, selectionStart: end, selectionEnd: end });
    },
    release() {
      flush();
      for (const { button, at } of pressedButtons.values())
        send({ type: "input.mouse", action: "up", ...at, button, clickCount: 1, modifiers: 0 });
      for (const { key, code } of pressedKeys.values()) sendKey({ key, code, modifiers: 0 }, "up");
      if (areFingersDown) send({ type: "input.touch", action: "cancel", points: [], modifiers: 0 });
      if (isComposing) send({ type: "input.compose", text: "", selectionStart: 0, selectionEnd: 0 });
      pressedButtons.clear();
      pressedKeys.clear();
      areFingersDown = false;
      isComposing = false;
    },
  };
}
