import type { LiveClientFrame } from "#lib/page/state/view-types.ts";

/** The fields of a keyboard event that decide what a key does. */
export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "repeat"
> &
  Partial<Pick<KeyboardEvent, "getModifierState">>;

type KeyFrame = Extract<LiveClientFrame, { type: "input.key" }>;
type Commands = NonNullable<KeyFrame["commands"]>;

/** A key as the live page, which runs on Linux, is to get it. */
export type PageKey = {
  key: string;
  code: string;
  modifiers: number;
  text?: string;
  commands?: Commands;
};

const ALT = 1;
const CONTROL = 2;
const META = 4;
const SHIFT = 8;

/** Whether the person's keyboard is that of a Mac or an iPad, whose shortcuts use ⌘. */
export const isApplePlatform = (platform: string): boolean => /mac|iphone|ipad/i.test(platform);

/**
 * Returns what a person wants to do with the clipboard, by the shortcut of their own platform. Their browser handles
 * `paste` and then fires a paste event.
 */
export function clipboardActionOf(press: KeyPress, isApple: boolean): "copy" | "cut" | "paste" | undefined {
  const { ctrlKey, metaKey, altKey, shiftKey } = press;
  if (altKey) return undefined;
  const isShortcut = isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  const key = press.key.toLowerCase();
  if (isShortcut && key === "v") return "paste";
  if (isShortcut && !shiftKey) return key === "c" ? "copy" : key === "x" ? "cut" : copyByInsert(press);
  return !isApple && shiftKey && !ctrlKey && !metaKey && key === "insert" ? "paste" : undefined;
}

const copyByInsert = ({ key }: KeyPress) => (key === "Insert" ? "copy" : undefined);

/** Converts a key of the person's platform into the key that does the same in Chromium on Linux. */
export function toPageKey(press: KeyPress, isApple: boolean): PageKey {
  const modifiers = modifiersOf(press);
  const { key, code } = press;
  if (isApple) return fromApple(press, modifiers);
  const isCharacter = [...key].length === 1;
  // Windows reports AltGr as Ctrl and Alt. With these, the page would take the character as a shortcut.
  if (isCharacter && press.getModifierState?.("AltGraph"))
    return { key, code, modifiers: modifiers & SHIFT, text: key };
  return withText({ key, code, modifiers });
}

const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }: KeyPress): number =>
  (altKey ? ALT : 0) + (ctrlKey ? CONTROL : 0) + (metaKey ? META : 0) + (shiftKey ? SHIFT : 0);

/** Adds the text that a key types. A shortcut types none. */
function withText(key: PageKey): PageKey {
  if ((key.modifiers & (CONTROL | META)) !== 0) return key;
  if (key.key === "Enter") return { ...key, text: "\r" };
  return [...key.key].length === 1 ? { ...key, text: key.key } : key;
}

const key = (name: string, modifiers = 0, commands?: Commands): PageKey => ({
  key: name,
  code: name,
  modifiers,
  ...(commands && { commands }),
});

/** What ⌘ does with a key. Shift, which selects, stays as it is. */
const WITH_COMMAND: Readonly<Record<string, PageKey>> = {
  ArrowLeft: key("Home"),
  ArrowRight: key("End"),
  ArrowUp: key("Home", CONTROL),
  ArrowDown: key("End", CONTROL),
  Backspace: key("Backspace", 0, ["DeleteToBeginningOfLine"]),
  Delete: key("Delete", 0, ["DeleteToEndOfLine"]),
};

/** What ⌥ does with a key: it moves by words. */
const WITH_OPTION = new Set(["ArrowLeft", "ArrowRight", "Backspace", "Delete"]);

/** What Control does with a key in the text fields of a Mac. */
const WITH_CONTROL: Readonly<Record<string, PageKey>> = {
  a: key("Home"),
  e: key("End"),
  b: key("ArrowLeft"),
  f: key("ArrowRight"),
  p: key("ArrowUp"),
  n: key("ArrowDown"),
  h: key("Backspace"),
  d: key("Delete"),
  k: key("Delete", 0, ["DeleteToEndOfLine"]),
};

function fromApple(press: KeyPress, modifiers: number): PageKey {
  const { key, code, altKey, ctrlKey, metaKey } = press;
  const shift = modifiers & SHIFT;
  if (key === "Meta")
    return { key: "Control", code: controlOf(code), modifiers: commandToControl(modifiers) };
  if (metaKey) {
    const moved = !altKey && !ctrlKey ? WITH_COMMAND[key] : undefined;
    return moved ? { ...moved, modifiers: moved.modifiers | shift } : shortcut(press, modifiers);
  }
  if (ctrlKey && !altKey) {
    const edited = WITH_CONTROL[key];
    return edited ? { ...edited, modifiers: edited.modifiers | shift } : { key, code, modifiers };
  }
  if (altKey && !ctrlKey && WITH_OPTION.has(key)) return { key, code, modifiers: shift | CONTROL };
  // ⌥ types characters, such as å.
  if (altKey && !ctrlKey && [...key].length === 1) return { key, code, modifiers: shift, text: key };
  return withText({ key, code, modifiers });
}

const shortcut = ({ key, code }: KeyPress, modifiers: number): PageKey => ({
  key,
  code,
  modifiers: commandToControl(modifiers),
});

/** Replaces ⌘ with Ctrl in a bit field of modifiers. */
export const commandToControl = (modifiers: number): number =>
  modifiers & META ? (modifiers & ~META) | CONTROL : modifiers;

const controlOf = (code: string): string => (code === "MetaRight" ? "ControlRight" : "ControlLeft");
