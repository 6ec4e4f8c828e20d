import type { Logger } from "#lib/log/logger.ts";
import { shorten } from "#lib/text/shorten.ts";

/** Lines that can be written at once. */
const BURST = 200;
/** After a burst, one more line can be written in each such period: at most 14,400 a day. */
const LINE_EVERY_MS = 6_000;
const LINE_CHARS_MAX = 4_000;

/**
 * Creates the log of a host for the time in which no process of the service is connected: JSON lines on standard error,
 * which is a file if the service has started the host. Pages can cause messages in a loop, so their rate is limited. The
 * next line has the number of those that were dropped.
 *
 * @param nowMs replaces the clock in tests, in milliseconds.
 */
export function createStderrLog(write: (line: string) => void, nowMs = () => performance.now()): Logger {
  let left = BURST;
  let countedAtMs = nowMs();
  let dropped = 0;

  function mayWrite(): boolean {
    const periods = Math.floor((nowMs() - countedAtMs) / LINE_EVERY_MS);
    countedAtMs += periods * LINE_EVERY_MS;
    left = Math.min(left + periods, BURST);
    if (left === 0) return false;
    left -= 1;
    return true;
  }

  const logAt = (level: string) => (fields: object, message: string) => {
    if (level === "debug") return;
    if (!mayWrite()) {
      dropped += 1;
      return;
    }
    const shown = Object.entries(fields).map(([key, value]) => [key, toShown(value)]);
    const about = { time: new Date().toISOString(), level, msg: message, ...(dropped > 0 && { dropped }) };
    dropped = 0;
    write(`${toLine(about, Object.fromEntries(shown))}\n`);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

const toShown = (value: unknown) => (value instanceof Error ? value.message : value);

/** Makes one line of JSON. The fields of a long message become one text, which is cut. */
function toLine(about: object, fields: object): string {
  const line = JSON.stringify({ ...about, ...fields });
  if (line.length <= LINE_CHARS_MAX) return line;
  return JSON.stringify({ ...about, fields: shorten(JSON.stringify(fields), LINE_CHARS_MAX) });
}
