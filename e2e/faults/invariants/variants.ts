import type { Invariant } from "../world/evidence.ts";

/** Finds revisions that were stored twice or lost, checks and previews that are half stored, and edits that were given up. */
export const variantsWhole: Invariant = {
  id: "variants",
  promise: "a revision is stored once, with its event; a call that succeeded left what it says",
  findViolations({ rows }) {
    const wrong: string[] = [];
    const told = (sessionId: string, key: string) =>
      rows.events
        .filter((event) => event.sessionId === sessionId && event.kind === "variant.updated")
        .map(({ body }) => JSON.parse(body).variant)
        .filter((variant) => variant.key === key);
    for (const { sessionId, key, revision } of rows.variants) {
      const own = rows.variantRevisions.filter((each) => each.sessionId === sessionId && each.key === key);
      const numbers = own.map(({ number }) => number).sort((one, other) => one - other);
      if (numbers.join() !== Array.from({ length: revision }, (_, index) => index + 1).join())
        wrong.push(`${sessionId} ${key} has the revisions ${numbers.join()}, and the newest is ${revision}`);
      // Each turn of the campaign applies a variant of its own once.
      if (revision !== 1) wrong.push(`${sessionId} ${key} was applied ${revision} times`);
      const unchecked = told(sessionId, key).filter(({ check }) => check === null);
      if (unchecked.length !== 1) wrong.push(`${sessionId} ${key} was announced ${unchecked.length} times`);
    }
    for (const { sessionId, key, checkStatus, checkReport, checkedAt } of rows.variantRevisions) {
      const isWhole =
        (checkStatus === null) === (checkReport === null) && (checkStatus === null) === (checkedAt === null);
      if (!isWhole) wrong.push(`the check of ${sessionId} ${key} is half stored`);
    }
    for (const { name, callId, state } of rows.toolCalls) {
      const nonce = /^call_(\w+)_[vcp]$/.exec(callId)?.[1];
      if (nonce === undefined || state !== "succeeded") continue;
      const revision = rows.variantRevisions.find(({ key }) => key === nonce);
      if (name === "apply_variant" && !revision) wrong.push(`${callId} succeeded, and its revision is lost`);
      if (name === "check_variant" && !revision?.checkStatus)
        wrong.push(`${callId} succeeded, and its check is lost`);
      if (name === "set_previews" && !rows.previews.some(({ variant }) => variant === nonce))
        wrong.push(`${callId} succeeded, and its preview is lost`);
    }
    return wrong;
  },
};
