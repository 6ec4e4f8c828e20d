import { shorten } from "#lib/text/shorten.ts";
import type { LoadFailure } from "../stage/stage-state.ts";

/** The ends of a navigation after which people want the page of before, and no explanation. */
const NO_FAILURES =
  /^the navigation was (stopped|interrupted)$|is a download, not a page|^the address answered 20[45]|did not unload$|^the browser ended/;

/** Which words of a reason mean which kind of failure. The first that fits counts. */
const KINDS: readonly (readonly [RegExp, LoadFailure["kind"]])[] = [
  [/could not be resolved/, "name"],
  [/certificate|secure connection|does not speak TLS/, "certificate"],
  [
    /refused the connection|closed the connection|did not answer|could not be (reached|connected)|the exchange with/,
    "connection",
  ],
  [
    /NETWORK_ALLOW|not an http\(s\) scheme|may not be|this port belongs|is blocked|was blocked|of this service/,
    "refused",
  ],
];

const URL_CHARS_MAX = 2_000;

/**
 * Describes for people why a document was not shown.
 * @param reason a sentence of the guard, of the network or of the navigation.
 * @returns undefined if there is nothing to explain: the navigation was stopped, or leads to no page.
 */
export function describeLoadFailure(url: string, reason: string): Omit<LoadFailure, "id"> | undefined {
  if (NO_FAILURES.test(reason)) return undefined;
  const kind = KINDS.find(([words]) => words.test(reason))?.[1] ?? "other";
  return { url: shorten(url, URL_CHARS_MAX), kind, reason };
}
