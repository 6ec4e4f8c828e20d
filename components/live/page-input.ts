import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import { buttonOf, modifiersOf, type pointInPage } from "./page-point.ts";

type Point = ReturnType<typeof pointInPage>;
type Mouse = Pick<MouseEvent, "button" | "detail" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;
type Keys = Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;

/** Sends a person's input in the live view to the page. */
export type PageInput = {
  move: (at: Point, event: Mouse) => void;
  press: (at: Point, event: Mouse, action: "down" | "up") => void;
  wheel: (at: Point, event: Mouse & { deltaX: number; deltaY: number }) => void;
  key: (event: Keys, action: "down" | "up") => void;
  text: (text: string) => void;
  paste: (text: string) => void;
  /** Releases every key that is still pressed. Called when the person leaves the live view. */
  release: () => void;
};

/**
 * Sends input over the live connection. Mouse moves and wheel events wait until just before the next drawn frame. Then
 * only the last position and the sum of the wheel deltas are sent. Other input does not wait. Before a mouse button or
 * a key is sent, the moves and wheel events that wait are sent.
 *
 * @param soon runs a callback before the next drawn frame.
 */
export function createPageInput(
  send: (frame: LiveClientFrame) => void,
  soon: (callback: () => void) => void = (callback) => requestAnimationFrame(callback),
): PageInput {
  let move: LiveClientFrame | undefined;
  let wheel: Extract<LiveClientFrame, { type: "input.wheel" }> | undefined;
  let isScheduled = false;
  /** The keys that are pressed in the page. Maps the `code` of each key to its `key`. */
  const pressedKeys = new Map<string, string>();

  function flush(): void {
    isScheduled = false;
    if (move) send(move);
    if (wheel) send(wheel);
    move = undefined;
    wheel = undefined;
  }
  function flushSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    soon(flush);
  }

  return {
    move(at, event) {
      move = {
        type: "input.mouse",
        action: "move",
        ...at,
        button: "none",
        clickCount: 0,
        modifiers: modifiersOf(event),
      };
      flushSoon();
    },
    press(at, event, action) {
      flush();
      const clickCount = Math.max(1, event.detail);
      send({
        type: "input.mouse",
        action,
        ...at,
        button: buttonOf(event.button),
        clickCount,
        modifiers: modifiersOf(event),
      });
    },
    wheel(at, event) {
      const deltaX = (wheel?.deltaX ?? 0) + event.deltaX;
      const deltaY = (wheel?.deltaY ?? 0) + event.deltaY;
      wheel = { type: "input.wheel", ...at, deltaX, deltaY, modifiers: modifiersOf(event) };
      flushSoon();
    },
    key(event, action) {
      flush();
      const { key, code } = event;
      // Ignores the release of a key that was pressed elsewhere, such as the key that moved the focus to the live view.
      if (action === "up" && !pressedKeys.delete(code)) return;
      if (action === "down") pressedKeys.set(code, key);
      const frame = { type: "input.key", action, key, code, modifiers: modifiersOf(event) } as const;
      const text = action === "down" ? textOf(event) : undefined;
      send(text === undefined ? frame : { ...frame, text });
    },
    release() {
      for (const [code, key] of pressedKeys)
        send({ type: "input.key", action: "up", key, code, modifiers: 0 });
      pressedKeys.clear();
    },
    text(text) {
      if (text) send({ type: "input.text", text });
    },
    paste(text) {
      if (text) send({ type: "input.paste", text });
    },
  };
}

/**
 * Returns the text that a key inserts: undefined with Ctrl or Meta, a line break for Enter, otherwise the key if it is
 * one character.
 */
function textOf({ key, ctrlKey, metaKey }: Keys): string | undefined {
  if (ctrlKey || metaKey) return undefined;
  if (key === "Enter") return "\r";
  return [...key].length === 1 ? key : undefined;
}
