import { functionSource, toSource } from "#lib/injected/bundle.ts";
import type { TagTime } from "#lib/injected/tag/main.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * Returns the source of a script that runs at the start of a document. If the document has no tag for the published
 * script, or the browser refuses the tag's script, this script runs the variant's script at the time at which the tag
 * would run it: with `async`, `latencyMs` after the parser has reached the head, when the page may have painted already.
 */
export function injectScript({ script, tag, tagUrl }: CheckContext, latencyMs: number): string {
  const time: TagTime = { tagUrl, isBlocking: tag === "blocking", latencyMs };
  return `(${functionSource("tag", "runAtTag")})(() => {
    ${script}
  }, ${toSource(time)})`;
}
