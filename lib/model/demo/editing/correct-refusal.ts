import { readData, unquote } from "../page-reading.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { listAdded } from "./prepare-changes.ts";
import { listDropped, readNewest } from "./variant-history.ts";

const ATTEMPTS_MAX = 3;
const NO_MATCH = /no element matches\./;
const MISSING_CHANGE = /\bdrop: there is no change (\S{1,32})\./;
const MISFIT_LINE = /^(\S{1,32}) ([a-zA-Z]{3,20}) ("(?:[^"\\]|\\.){1,2000}"): no element matches\./;
/** Matches a line that lists a candidate: the selector of an element, and then its label. */
const CANDIDATE_LINE = /^ {2}(\S.*?): (?=[a-z][a-z0-9-]*(?: \d)?(?: "| \[|$))/;

/**
 * Corrects the input of a refused `apply_variant` call. Depending on the refusal, the function uses the newest
 * revision, removes the id of a missing change from `drop`, or replaces each selector that matched nothing with the
 * closest candidate. Selectors are replaced only once. Returns undefined if there is no better input, or after three
 * calls.
 */
export function correctRefusal(attempts: ToolExchange[]): Record<string, unknown> | undefined {
  const last = attempts.at(-1);
  const refusal = last?.result?.text;
  if (last === undefined || refusal === undefined || attempts.length >= ATTEMPTS_MAX) return undefined;
  const { input } = last;
  const newest = readNewest(refusal);
  if (newest !== undefined)
    return newest === input.baseRevision ? undefined : { ...input, baseRevision: newest };
  const missing = MISSING_CHANGE.exec(refusal)?.[1];
  if (missing !== undefined) return withoutDrop(input, missing);
  const refused = attempts.filter(({ result }) => NO_MATCH.test(result?.text ?? ""));
  return NO_MATCH.test(refusal) && refused.length === 1 ? withCandidates(input, refusal) : undefined;
}

function withoutDrop(input: Record<string, unknown>, missing: string): Record<string, unknown> | undefined {
  const drop = listDropped(input).filter((id) => id !== missing);
  const { drop: _drop, ...rest } = input;
  if (drop.length > 0) return { ...rest, drop };
  return listAdded(input).length > 0 ? rest : undefined;
}

/**
 * Replaces each selector that matched no element with its first candidate. Omits the change if there is no candidate.
 */
function withCandidates(
  input: Record<string, unknown>,
  refusal: string,
): Record<string, unknown> | undefined {
  const candidates = readCandidates(refusal);
  const add = listAdded(input).flatMap((change) => {
    const key = `${change.op} ${change.selector}`;
    if (!candidates.has(key)) return [change];
    const closest = candidates.get(key);
    return closest === undefined ? [] : [{ ...change, selector: closest }];
  });
  return add.length > 0 ? { ...input, add } : undefined;
}

/**
 * Reads the closest candidate for each change whose selector matches nothing. The key is the operation and the
 * selector.
 */
function readCandidates(refusal: string): Map<string, string | undefined> {
  const candidates = new Map<string, string | undefined>();
  let key = "";
  for (const line of readData(refusal).split("\n")) {
    const [, , op, selector] = MISFIT_LINE.exec(line) ?? [];
    if (selector !== undefined) {
      key = `${op} ${unquote(selector)}`;
      candidates.set(key, undefined);
    }
    const closest = CANDIDATE_LINE.exec(line)?.[1];
    if (closest !== undefined && candidates.has(key) && candidates.get(key) === undefined)
      candidates.set(key, closest);
  }
  return candidates;
}
