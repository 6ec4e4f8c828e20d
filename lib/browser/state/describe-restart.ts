import { shorten } from "#lib/text/shorten.ts";
import type { Restoration } from "./restore-site-data.ts";

/** How many origins a sentence names. */
const NAMED_MAX = 3;
const ORIGIN_CHARS_MAX = 100;

/** Describes in a clause whether a restarted browser has the logins of the one before. */
export function describeLogins({ outcome, lost }: Restoration): string {
  if (outcome === "none") return "no logins had been stored";
  if (outcome === "failed") return "logins could not be restored";
  const origins = [...new Set(lost)];
  if (origins.length === 0) return "logins were restored";
  const named = origins
    .slice(0, NAMED_MAX)
    .map((origin) => JSON.stringify(shorten(origin, ORIGIN_CHARS_MAX)));
  const others = origins.length > NAMED_MAX ? ` and ${origins.length - NAMED_MAX} more` : "";
  return `logins were restored, except the storage of ${named.join(", ")}${others}`;
}

/** Describes to a person that the browser was restarted. @param reason why it failed before, if it did. */
export function describeRestart(restoration: Restoration, reason: string | undefined): string {
  const logins = describeLogins(restoration);
  const restarted = `The browser was restarted: ${logins}. What was typed into forms is lost.`;
  return reason === undefined ? restarted : `${restarted} The restart was needed because ${reason}.`;
}
