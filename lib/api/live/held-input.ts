import type { BrowserInput } from "#lib/browser/browser-service.ts";

type Press = Extract<BrowserInput, { type: "mouse" }>;

/** The keys and mouse buttons that a person holds down in the page. */
type HeldInput = {
  record: (input: BrowserInput) => void;
  /** Returns the inputs that release all held keys and buttons, and forgets these keys and buttons. */
  releaseAll: () => BrowserInput[];
};

/** More keys than two hands hold. Further ones are not tracked, because a program could press keys without end. */
const HELD_KEYS_MAX = 32;

/** Tracks the keys and buttons that a person holds down, so that they can be released when the person loses control. */
export function createHeldInput(): HeldInput {
  const keys = new Map<string, string>();
  const buttons = new Map<Press["button"], Press>();
  return {
    record(input) {
      if (input.type === "key") {
        if (input.action === "up") keys.delete(input.code);
        else if (keys.size < HELD_KEYS_MAX) keys.set(input.code, input.key);
      }
      if (input.type === "mouse" && input.action === "down") buttons.set(input.button, input);
      if (input.type === "mouse" && input.action === "up") buttons.delete(input.button);
    },
    releaseAll() {
      const ups: BrowserInput[] = [
        ...[...buttons.values()].map((press): BrowserInput => ({ ...press, action: "up" })),
        ...[...keys].map(
          ([code, key]): BrowserInput => ({ type: "key", action: "up", key, code, modifiers: 0 }),
        ),
      ];
      keys.clear();
      buttons.clear();
      return ups;
    },
  };
}
