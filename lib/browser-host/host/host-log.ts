import type { Logger } from "#lib/log/logger.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { AttachedServices } from "./attached-services.ts";

/** Messages that are on their way to a process. Further ones are counted and dropped: pages can cause them in a loop. */
const OPEN_MAX = 100;
const FIELDS_MAX = 20;
const FIELD_CHARS_MAX = 4_000;

/** Creates a logger that logs at a connected process. If none is connected, it logs with `own`. */
export function createHostLog(services: Pick<AttachedServices, "count" | "ask">, own: Logger): Logger {
  let open = 0;
  let dropped = 0;
  async function send(level: keyof Logger, fields: Record<string, unknown>, message: string): Promise<void> {
    open += 1;
    dropped = 0;
    // Without a process, the message is lost with its link.
    await services.ask("log", { level, fields, message }).catch(() => {});
    open -= 1;
  }
  const logAt = (level: keyof Logger) => (fields: object, message: string) => {
    const plain = toPlainFields(fields);
    if (services.count() === 0) return own[level](plain, message);
    if (open >= OPEN_MAX) dropped += 1;
    else void send(level, dropped === 0 ? plain : { ...plain, dropped }, message);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** Makes the fields of a message small and serializable. They may contain text of pages. */
const toPlainFields = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .slice(0, FIELDS_MAX)
      .map(([key, value]) => [key, toPlain(value)]),
  );

function toPlain(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, stack = "" } = value;
    return { type: cut(name), message: cut(message), stack: cut(stack) };
  }
  if (typeof value === "number" || typeof value === "boolean" || value == null) return value;
  if (typeof value === "string") return cut(value);
  try {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > FIELD_CHARS_MAX ? cut(text) : JSON.parse(text);
  } catch {
    return "a value that cannot be logged";
  }
}

const cut = (text: unknown): string => shorten(String(text), FIELD_CHARS_MAX);
