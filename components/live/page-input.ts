import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import { buttonOf, modifiersOf, type pointInPage } from "./page-point.ts";

type Point = ReturnType<typeof pointInPage>;
type Mouse = Pick<MouseEvent, "button" | "detail" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;
type Keys = Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;

/** What a person does in the live view, on its way to the page. */
type PageInput = {
  move: (at: Point, event: Mouse) => void;
  press: (at: Point, event: Mouse, action: "down" | "up") => void;
  wheel: (at: Point, event: Mouse & { deltaX: number; deltaY: number }) => void;
  key: (event: Keys, action: "down" | "up") => void;
  text: (text: string) => void;
  paste: (text: string) => void;
  /** Lets go of every key that is still down: the person has left. */
  release: () => void;
};

/**
 * Sends input over the live connection. Moves and wheel turns are gathered to one each per drawn frame; a click goes
 * out at once, behind the last position.
 *
 * @param soon runs a callback with the next drawn frame.
 */
export function createPageInput(
  send: (frame: LiveClientFrame) => void,
  soon: (callback: () => void) => void = (callback) => requestAnimationFrame(callback),
): PageInput {
  let move: LiveClientFrame | undefined;
  let wheel: Extract<LiveClientFrame, { type: "input.wheel" }> | undefined;
  let isScheduled = false;
  /** Keys that the page knows to be down, by their place on the keyboard. */
  const held = new Map<string, string>();

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
      // The key that brought the focus here goes up here, too: the page has not seen it go down.
      if (action === "up" && !held.delete(code)) return;
      if (action === "down") held.set(code, key);
      const frame = { type: "input.key", action, key, code, modifiers: modifiersOf(event) } as const;
      const text = action === "down" ? textOf(event) : undefined;
      send(text === undefined ? frame : { ...frame, text });
    },
    release() {
      for (const [code, key] of held) send({ type: "input.key", action: "up", key, code, modifiers: 0 });
      held.clear();
    },
    text(text) {
      if (text) send({ type: "input.text", text });
    },
    paste(text) {
      if (text) send({ type: "input.paste", text });
    },
  };
}

/** What a key writes: nothing with Ctrl or Meta held, a line break for Enter, itself where it is one character. */
function textOf({ key, ctrlKey, metaKey }: Keys): string | undefined {
  if (ctrlKey || metaKey) return undefined;
  if (key === "Enter") return "\r";
  return [...key].length === 1 ? key : undefined;
}
