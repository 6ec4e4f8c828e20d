import type { Evidence, Invariant } from "../world/evidence.ts";
import { readVariant } from "../world/read-variant.ts";

/**
 * Finds revisions that were stored twice or lost, checks that are incomplete, and successful calls without an effect.
 */
export const variantsWhole: Invariant = {
  id: "variants",
  promise: "a revision is stored once, with its event; the effect of a call that succeeded is stored",
  findViolations({ rows }) {
    const wrong: string[] = [];
    const findUpdates = (sessionId: string, key: string) =>
      rows.events
        .filter((event) => event.sessionId === sessionId && event.kind === "variant.updated")
        .map(({ body }) => JSON.parse(body).variant)
        .filter((variant) => variant.key === key);
    for (const { sessionId, key, revision } of rows.variants) {
      const own = rows.variantRevisions.filter((each) => each.sessionId === sessionId && each.key === key);
      const numbers = own.map(({ number }) => number).sort((one, other) => one - other);
      if (numbers.join() !== Array.from({ length: revision }, (_, index) => index + 1).join())
        wrong.push(`${sessionId} ${key} has the revisions ${numbers.join()}, and the newest is ${revision}`);
      // Each turn of the campaign that edits a page applies its own variant once.
      if (revision !== 1) wrong.push(`${sessionId} ${key} was applied ${revision} times`);
      const unchecked = findUpdates(sessionId, key).filter(({ check }) => check === null);
      if (unchecked.length !== 1) wrong.push(`${sessionId} ${key} was announced ${unchecked.length} times`);
    }
    for (const { sessionId, key, checkStatus, checkReport, checkedAt } of rows.variantRevisions) {
      const isWhole =
        (checkStatus === null) === (checkReport === null) && (checkStatus === null) === (checkedAt === null);
      if (!isWhole) wrong.push(`the check of ${sessionId} ${key} is half stored`);
    }
    return [...wrong, ...findLostEdits(rows)];
  },
};

/**
 * Finds successful calls whose effect is missing. Of the calls of `set_previews` in a session, only the last is
 * checked, because each call replaces all previews.
 */
function findLostEdits({ toolCalls, variantRevisions, previews }: Evidence["rows"]): string[] {
  const ordered = toolCalls.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  return ordered.flatMap(({ sessionId, name, callId, input, state }, index) => {
    if (state !== "succeeded") return [];
    const variant = readVariant(input);
    const revision = variantRevisions.find((each) => each.sessionId === sessionId && each.key === variant);
    const isReplaced = ordered
      .slice(index + 1)
      .some((call) => call.name === "set_previews" && call.sessionId === sessionId);
    if (name === "apply_variant" && !revision) return [`${callId} succeeded, and its revision is lost`];
    if (name === "check_variant" && !revision?.checkStatus)
      return [`${callId} succeeded, and its check is lost`];
    if (name === "set_previews" && !isReplaced && !previews.some((preview) => preview.variant === variant))
      return [`${callId} succeeded, and its preview is lost`];
    return [];
  });
}
