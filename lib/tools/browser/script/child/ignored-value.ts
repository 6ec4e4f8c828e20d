import type { Frame, Locator } from "playwright-core";
import { explainElement } from "./behind-dialog.ts";
import { ownCalls } from "./own-calls.ts";
import { describePendingNavigation } from "./pending-navigation.ts";

/** How long a page may take to show a value after the field has it, and how long reading the value may take. */
const SETTLE_MS = 100;
const READ_MS_MAX = 1_000;
const SHOWN_CHARS_MAX = 100;

/** The calls of Playwright that set the value of a field. */
export const FILLING_CALL = /^(fill|selectOption)$/;

/**
 * Plays a call that sets the value of a field. Playwright does not notice if a page takes the value back.
 *
 * @param params the parameters of the call.
 * @throws Error if the field has the same value as before, although the call should have changed it.
 */
export async function unlessIgnored<Result>(
  frame: Pick<Frame, "locator">,
  params: { selector: string; value?: unknown },
  play: () => Promise<Result>,
): Promise<Result> {
  const field = frame.locator(params.selector).first();
  const read = () => ownCalls.run(true, () => readValue(field));
  // Does not wait for a field that is not there yet.
  const isThere = await ownCalls.run(true, () => field.count()).catch(() => 0);
  const before = isThere > 0 ? await read() : undefined;
  const result = await play();
  if (before === undefined) return result;
  const wanted = readWanted(params, result);
  const isIgnored = async () => {
    const now = await read();
    return now === before;
  };
  if (wanted === undefined || wanted.trim() === before.trim() || !(await isIgnored())) return result;
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  if (!(await isIgnored())) return result;
  const cause = await explainElement(frame, params.selector, "explain=modal");
  const problem = `the value did not change: the field still has ${quote(before)} instead of ${quote(wanted)}`;
  throw new Error(cause === "" ? problem : `${problem}: ${cause}`);
}

/** Returns the value that the field should have. `selectOption` returns the values of the options that it has selected. */
function readWanted({ value }: { value?: unknown }, result: unknown): string | undefined {
  if (typeof value === "string") return value;
  const { values } = (result ?? {}) as { values?: unknown };
  return Array.isArray(values) && values.length === 1 ? String(values[0]) : undefined;
}

/** Reads the value of a field or the text of an editor. Undefined if it cannot be read, or if a navigation is pending. */
async function readValue(field: Locator): Promise<string | undefined> {
  if (describePendingNavigation() !== undefined) return undefined;
  const options = { timeout: READ_MS_MAX };
  try {
    return (await field.inputValue(options).catch(() => field.textContent(options))) ?? undefined;
  } catch {
    // The element is gone, so there is nothing to compare.
    return undefined;
  }
}

const quote = (text: string) =>
  JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text);
