import type { FromChild } from "./script-protocol.ts";
import type { ScriptEnd } from "./script-types.ts";

type Done = Extract<FromChild, { type: "done" }>;

/** Maximum characters of the message of an error that a script threw. */
const ERROR_CHARS_MAX = 4_000;
/** Levels of a value that are kept. A deeper value is returned as JSON text, because its indented form may be huge. */
const DEPTH_MAX = 100;

/** Reads the value that a script returned. @param charsMax maximum characters of its JSON before it was encoded. */
export function readValue({ json, cutFrom }: Done & { ok: true }, charsMax: number): ScriptEnd {
  if (json === "") return { ok: true, value: undefined };
  // JSON that is cut to `charsMax` characters is sent as a JSON string, in which quotes and escapes take more space.
  const text = json.slice(0, 4 * charsMax);
  try {
    const value: unknown = JSON.parse(text);
    if (cutFrom !== null) return { ok: true, value: `${value}… (cut: ${cutFrom} characters in all)` };
    return { ok: true, value: isDeeperThan(value, DEPTH_MAX) ? text : value };
  } catch {
    return {
      ok: false,
      error: "The script's result is not JSON.",
      isThrown: false,
      hint: undefined,
      timedOut: false,
    };
  }
}

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1)));

/**
 * Describes an error that a script threw: the message, the line and column in the script, and a hint for a frequent
 * error.
 */
export function readError({ error: message, line, column }: Done & { ok: false }, script: string): ScriptEnd {
  const error = message.slice(0, ERROR_CHARS_MAX);
  const source = line === null ? undefined : script.split("\n")[line - 1]?.trim();
  const at = column === null ? `line ${line}` : `line ${line}, column ${column}`;
  const where = source ? `\nat ${at}: ${source.slice(0, 200)}` : "";
  const hint = HINTS.find(({ when }) => when.test(error))?.say;
  return { ok: false, error: `${error}${where}`, isThrown: true, hint, timedOut: false };
}

const HINTS = [
  {
    when: /\.(dragTo|dragAndDrop): .*intercepts pointer events/s,
    say:
      "What is dragged, or something above the target, takes the drop; the drag was ended where it began. Drag with the mouse, which does not check what is under it: " +
      "take boundingBox() of both elements, then page.mouse.move to the middle of the first, page.mouse.down(), page.mouse.move to the " +
      "middle of the other with { steps: 10 }, page.mouse.up().",
  },
  {
    when: /it is (covered by|behind) (alert)?dialog/,
    say: "Answer or close the dialog first; its controls are in the snapshot.",
  },
  {
    when: /the element of ref (\w+) is not in the page/,
    say: "It was removed or replaced since the snapshot, or the page was left. Take a new snapshot with dom_query.",
  },
  {
    when: /reading '(exit|env|cwd|stdout|mainModule)'|require is not a function|DYNAMIC_IMPORT|dynamic import|ERR_ACCESS_DENIED|restricted|fetch is not a function|no network/,
    say: "A script has page, context and console only: no modules, files, environment or network of its own. Use page.evaluate for what the page itself can do, and the screenshot tool for pictures.",
  },
  {
    when: /strict mode violation/,
    say: "Several elements match: narrow the selector (dom_query gives unique ones), or take .first().",
  },
  {
    when: /no element matches/,
    say: "Take a snapshot with dom_query, and use the ref of the element, or its role and name as shown there.",
  },
] as const;
