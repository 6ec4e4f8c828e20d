import type { BrowserInput } from "../browser-service.ts";

type Touch = Extract<BrowserInput, { type: "touch" }>;
type Press = Extract<BrowserInput, { type: "mouse" }>;

/** The keys, mouse buttons and fingers that a person holds down in the page, and what an input method composes. */
export type HeldInput = {
  record: (input: BrowserInput) => void;
  /** Returns the inputs that release everything, and forgets it. */
  releaseAll: () => BrowserInput[];
};

const CANCEL_TOUCH: BrowserInput = { type: "touch", action: "cancel", points: [], modifiers: 0 };
const END_COMPOSITION: BrowserInput = { type: "compose", text: "", selectionStart: 0, selectionEnd: 0 };
/** More keys than two hands hold. Further ones are not tracked, because a program could press keys without end. */
const HELD_KEYS_MAX = 32;

/** Tracks what a person holds down, so that it can be released when the person loses control. */
export function createHeldInput(): HeldInput {
  const keys = new Map<string, string>();
  const buttons = new Map<Press["button"], Press>();
  let fingers: Touch["points"] = [];
  let isComposing = false;
  return {
    record(input) {
      if (input.type === "key") {
        if (input.action === "up") keys.delete(input.code);
        else if (keys.size < HELD_KEYS_MAX) keys.set(input.code, input.key);
      }
      if (input.type === "mouse" && input.action === "down") buttons.set(input.button, input);
      if (input.type === "mouse" && input.action === "up") buttons.delete(input.button);
      if (input.type === "touch") fingers = input.points;
      if (input.type === "compose") isComposing = input.text !== "";
      if (input.type === "text") isComposing = false;
    },
    releaseAll() {
      const ups: BrowserInput[] = [
        ...[...buttons.values()].map((press): BrowserInput => ({ ...press, action: "up" })),
        ...[...keys].map(
          ([code, key]): BrowserInput => ({ type: "key", action: "up", key, code, modifiers: 0 }),
        ),
        ...(fingers.length > 0 ? [CANCEL_TOUCH] : []),
        ...(isComposing ? [END_COMPOSITION] : []),
      ];
      keys.clear();
      buttons.clear();
      fingers = [];
      isComposing = false;
      return ups;
    },
  };
}
