import type { BrowserInput } from "../browser-service.ts";

/** How many fields are named, and how long a name may be in characters. Further fields are not named. */
const FIELDS_MAX = 20;
const NAME_MAX = 80;

/** What a person does while they have control: clicks, and names of the fields in which they type. Never a value. */
export type ControlActivity = {
  /** Notes an input that goes to the page. */
  note: (input: BrowserInput) => void;
  /** Returns what was noted. Waits for the name of the last field. */
  read: () => Promise<{ clicks: number; fields: string[] }>;
};

/**
 * Creates the record of one person.
 * @param readField returns the name of the field that has the focus; null if none has.
 */
export function createControlActivity(readField: () => Promise<string | null>): ControlActivity {
  const fields = new Set<string>();
  let clicks = 0;
  /** Whether the only finger on the page has not moved yet. */
  let isTap = false;
  let reading: Promise<void> | undefined;
  /** Whether the person has typed since the last name was asked for, and not moved the focus. */
  let hasTyped = false;

  async function readFields(): Promise<void> {
    do {
      hasTyped = false;
      const name = await readField().catch(() => null);
      if (name !== null && fields.size < FIELDS_MAX) fields.add(name.slice(0, NAME_MAX));
    } while (hasTyped);
    reading = undefined;
  }

  return {
    note(input) {
      if (input.type === "mouse" && input.action === "down") clicks += 1;
      if (input.type === "touch") {
        if (input.action === "end" && isTap) clicks += 1;
        isTap = input.action === "start" && input.points.length === 1;
      }
      if (movesFocus(input)) hasTyped = false;
      else if (isTyping(input)) {
        hasTyped = true;
        reading ??= readFields();
      }
    },
    async read() {
      await reading;
      return { clicks, fields: [...fields] };
    },
  };
}

const movesFocus = (input: BrowserInput): boolean =>
  (input.type === "mouse" && input.action === "down") ||
  (input.type === "touch" && input.action === "start") ||
  (input.type === "key" && (input.key === "Tab" || input.key === "Enter" || input.key === "Escape"));

const ERASING = new Set(["Backspace", "Delete"]);
const CONTROL_OR_META = 2 | 4;

function isTyping(input: BrowserInput): boolean {
  if (input.type === "text" || input.type === "paste") return true;
  if (input.type !== "key" || input.action !== "down") return false;
  const isCharacter = [...input.key].length === 1 && (input.modifiers & CONTROL_OR_META) === 0;
  return isCharacter || ERASING.has(input.key);
}
