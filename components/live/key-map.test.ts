import assert from "node:assert/strict";
import { test } from "node:test";
import { clipboardActionOf, type KeyPress, toPageKey } from "./key-map.ts";

const MODIFIERS = { "⌘": "metaKey", "⌥": "altKey", "⌃": "ctrlKey", "⇧": "shiftKey" } as const;

/** Builds a key press from its name with the symbols of the modifiers in front, such as `⌘⇧z`. */
function press(name: string, isAltGraph = false): KeyPress {
  const [, symbols = "", key = ""] = /^([⌘⌥⌃⇧]*)(.+)$/u.exec(name) ?? [];
  const held = new Set([...symbols].map((symbol) => MODIFIERS[symbol as keyof typeof MODIFIERS]));
  return {
    key,
    code: key.length === 1 ? `Key${key.toUpperCase()}` : key,
    altKey: held.has("altKey"),
    ctrlKey: held.has("ctrlKey"),
    metaKey: held.has("metaKey"),
    shiftKey: held.has("shiftKey"),
    repeat: false,
    getModifierState: (modifier) => modifier === "AltGraph" && isAltGraph,
  };
}

/** Describes a page key in the same notation, with its text and commands. */
function shown(name: string, isApple: boolean, isAltGraph = false): string {
  const { key, modifiers, text, commands } = toPageKey(press(name, isAltGraph), isApple);
  const bits = ["⌥", "⌃", "⌘", "⇧"].filter((_, index) => modifiers & (1 << index)).join("");
  return [bits + key, text && JSON.stringify(text), commands?.join()].filter(Boolean).join(" ");
}

const ON_APPLE: [string, string][] = [
  ["⌘a", "⌃a"],
  ["⌘⇧z", "⌃⇧z"],
  ["⌘ArrowLeft", "Home"],
  ["⌘⇧ArrowRight", "⇧End"],
  ["⌘ArrowUp", "⌃Home"],
  ["⌘Backspace", "Backspace DeleteToBeginningOfLine"],
  ["⌥ArrowLeft", "⌃ArrowLeft"],
  ["⌥⇧ArrowRight", "⌃⇧ArrowRight"],
  ["⌥Backspace", "⌃Backspace"],
  ["⌥å", 'å "å"'],
  ["⌃a", "Home"],
  ["⌃k", "Delete DeleteToEndOfLine"],
  ["⌃t", "⌃t"],
  ["Enter", 'Enter "\\r"'],
  ["⇧A", '⇧A "A"'],
];

for (const [pressed, expected] of ON_APPLE)
  test(`on a Mac, ${pressed} becomes ${expected}`, () => assert.equal(shown(pressed, true), expected));

const ELSEWHERE: [string, string][] = [
  ["⌃a", "⌃a"],
  ["⌃ArrowLeft", "⌃ArrowLeft"],
  ["⌥ArrowLeft", "⌥ArrowLeft"],
  ["⌘a", "⌘a"],
  ["a", 'a "a"'],
];

for (const [pressed, expected] of ELSEWHERE)
  test(`elsewhere, ${pressed} stays as typed`, () => assert.equal(shown(pressed, false), expected));

test("characters of AltGr are text, whether it is reported as Ctrl and Alt or not", () => {
  assert.equal(shown("⌃⌥@", false, true), '@ "@"');
  assert.equal(shown("€", false, true), '€ "€"');
});

test("the Command key is the Control key of the page", () => {
  assert.deepEqual(toPageKey({ ...press("⌘Meta"), code: "MetaRight" }, true), {
    key: "Control",
    code: "ControlRight",
    modifiers: 2,
  });
});

test("shortcuts of the clipboard are those of the person's platform", () => {
  const action = (name: string, isApple: boolean) => clipboardActionOf(press(name), isApple);
  assert.deepEqual(
    ["⌘c", "⌘x", "⌘v", "⌃c", "⌘⇧c"].map((name) => action(name, true)),
    ["copy", "cut", "paste", undefined, undefined],
  );
  assert.deepEqual(
    ["⌃c", "⌃X", "⌃v", "⌃Insert", "⇧Insert", "⌘c", "⌃⌥v"].map((name) => action(name, false)),
    ["copy", "cut", "paste", "copy", "paste", undefined, undefined],
  );
});
