import { inspect } from "node:util";
import { sendToService } from "./parent.ts";

/** Creates the script's console. It sends up to `charsMax` characters of output to the service and drops the rest. */
export function createConsole(charsMax: number) {
  let charsLeft = charsMax;
  const log = (...values: unknown[]) => {
    if (charsLeft <= 0) return;
    const text = values
      .map((value) =>
        typeof value === "string" ? value : inspect(value, { depth: 4, maxStringLength: 2_000 }),
      )
      .join(" ");
    sendToService({
      type: "log",
      text:
        text.length > charsLeft ? `${text.slice(0, charsLeft).replace(/[\ud800-\udbff]$/, "")}… (cut)` : text,
    });
    charsLeft -= text.length + 1;
  };
  return { log, info: log, warn: log, error: log, debug: log, table: log, dir: log, trace: log };
}

/**
 * Encodes the script's return value as JSON; an empty string means `undefined`. JSON longer than `charsMax` is cut and
 * sent as a JSON string, and `cutFrom` is its full length. Binary data, functions and Playwright's objects are replaced
 * with short descriptions.
 */
export function encodeValue(value: unknown, charsMax: number): { json: string; cutFrom: number | null } {
  if (value === undefined) return { json: "", cutFrom: null };
  const seen: object[] = [];
  const json =
    JSON.stringify(value, function (this: unknown, _key, item: unknown) {
      if (typeof item === "bigint") return `${item}n`;
      if (typeof item === "function") return "[function]";
      if (typeof item !== "object" || item === null) return item;
      if ("type" in item && item.type === "Buffer" && "data" in item && Array.isArray(item.data)) {
        return `[${item.data.length} bytes]`;
      }
      if (ArrayBuffer.isView(item)) return `[${item.byteLength} bytes]`;
      if (item instanceof Map || item instanceof Set) return [...item];
      if (item instanceof Error) return `${item.name}: ${item.message}`;
      // Playwright's objects describe themselves as strings, such as `locator('h1')` or `JSHandle@node`.
      if ("_apiName" in item || "_guid" in item) return String(item);
      while (seen.length > 0 && seen.at(-1) !== this) seen.pop();
      if (seen.includes(item)) return "[circular]";
      seen.push(item);
      return item;
    }) ?? "null";
  return json.length > charsMax
    ? { json: JSON.stringify(json.slice(0, charsMax)), cutFrom: json.length }
    : { json, cutFrom: null };
}
