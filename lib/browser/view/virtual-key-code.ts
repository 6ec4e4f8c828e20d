/** Windows virtual key codes of editing, navigation and modifier keys, by `KeyboardEvent.key`. */
const NAMED: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Shift: 16,
  Control: 17,
  Alt: 18,
  Pause: 19,
  CapsLock: 20,
  Escape: 27,
  " ": 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Insert: 45,
  Delete: 46,
  Meta: 91,
  ContextMenu: 93,
};

/** Windows virtual key codes of the punctuation keys of a US keyboard, by `KeyboardEvent.code`. */
const PUNCTUATION: Readonly<Record<string, number>> = {
  Semicolon: 186,
  Equal: 187,
  Comma: 188,
  Minus: 189,
  Period: 190,
  Slash: 191,
  Backquote: 192,
  BracketLeft: 219,
  Backslash: 220,
  BracketRight: 221,
  Quote: 222,
};

/** Returns the Windows virtual key code that Chromium requires for a key. Returns 0 if this file has no code for it. */
export function virtualKeyCode(key: string, code: string): number {
  const named = NAMED[key];
  if (named !== undefined) return named;
  const functionKey = /^F([1-9]|1\d|2[0-4])$/.exec(key);
  if (functionKey) return 111 + Number(functionKey[1]);
  const letterOrDigit = /^(?:Key([A-Z])|Digit(\d))$/.exec(code);
  const character =
    letterOrDigit?.[1] ?? letterOrDigit?.[2] ?? (/^[a-z0-9]$/i.test(key) ? key.toUpperCase() : "");
  if (character !== "") return character.charCodeAt(0);
  return PUNCTUATION[code] ?? 0;
}
