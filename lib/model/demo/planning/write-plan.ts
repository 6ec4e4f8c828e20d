import type { EditRequest } from "../editing/edit-request.ts";
import { findMissing, isOnPage, queryStep } from "../editing/plan-edit.ts";
import { prepareEdit } from "../editing/prepare-changes.ts";
import { writeCannotEdit, writeEditHelp } from "../editing/write-edit-report.ts";
import { sincePageChange } from "../reach-page.ts";
import type { DemoStep, Situation } from "../situation.ts";
import { demoLabel, join, listLines, quote, quoteAll } from "../write-demo-report.ts";
import { writeSentences } from "./plan-sentences.ts";
import { isOpen } from "./plan-state.ts";

/** Maximum number of `update_plan` calls in a turn. A call fails if a person has changed the plan in the meantime. */
const TRIES_MAX = 3;

/**
 * Plans the next step of a turn in plan-first mode: find the elements if their page is open, write the plan, and wait
 * for a person to agree to it.
 */
export function writePlan(situation: Situation, request: EditRequest): DemoStep {
  const missing = findMissing(situation, request);
  if (missing.length > 0) return { kind: "report", text: writeCannotEdit(missing) };
  if (request.edits.length === 0 && request.undo === undefined)
    return { kind: "report", text: writeEditHelp(request) };

  const { exchanges, tools, plan } = situation;
  const hasLooked = isOnPage(situation, request);
  const looks = sincePageChange(exchanges);
  const edits = request.edits.map((edit) => ({
    edit,
    prepared: hasLooked ? prepareEdit(edit, looks) : undefined,
  }));
  const queries = edits.flatMap(({ prepared }) => (prepared?.kind === "query" ? [prepared.input] : []));
  if (queries.length > 0) return queryStep(queries);

  const failed = edits.flatMap(({ edit, prepared }) =>
    prepared?.kind === "failed" ? [{ words: edit.words, reason: prepared.reason }] : [],
  );
  const possible = edits.flatMap(({ edit, prepared }) => (prepared?.kind === "failed" ? [] : [edit]));
  const { sentences, leftOut } = writeSentences({ ...request, edits: possible });
  const newItems = sentences.filter((text) => !plan.items.some((item) => isOpen(item) && item.text === text));
  const calls = exchanges.filter(({ toolName }) => toolName === "update_plan");
  const isWritten = calls.at(-1)?.result?.isError === false;
  if (
    tools.has("update_plan") &&
    !isWritten &&
    newItems.length > 0 &&
    calls.length < TRIES_MAX &&
    !plan.isCut
  ) {
    // A plan without open items is finished, so the new items replace it.
    const existing = plan.items.some(isOpen) ? plan.items : [];
    const items = [...existing, ...newItems.map((text) => ({ text, status: "todo" }))];
    const input = { items, baseRevision: plan.revision };
    return { kind: "calls", say: "I write the plan.", calls: [{ toolName: "update_plan", input }] };
  }
  const remarks = { failed, leftOut: [...request.leftOut, ...leftOut], hasLooked };
  return { kind: "report", text: describeWaiting(situation, newItems, remarks) };
}

type Remarks = { failed: { words: string; reason: string }[]; leftOut: string[]; hasLooked: boolean };

/** Describes the plan, what is not in it, and that the turn waits for the person's agreement. */
function describeWaiting({ plan }: Situation, unwritten: string[], remarks: Remarks): string {
  const { failed, leftOut, hasLooked } = remarks;
  const open = plan.items.filter(isOpen);
  const isMissing = unwritten.length > 0;
  return join(
    "Plan first is on, so I have changed nothing.",
    isMissing
      ? `I could not write these steps into the plan:\n\n${listLines(unwritten.map((text) => quote(text, 500)))}`
      : undefined,
    open.length > 0
      ? `The plan:\n\n${listLines(open.map(({ text }) => quote(text, 500)))}\n\nI wait for your go: edit the plan if you like, then agree to it with **Go ahead** on the session page.`
      : undefined,
    open.length === 0 && !isMissing && failed.length === 0
      ? "There is no plan with something left to do: tell me what to change, and I plan it."
      : undefined,
    !hasLooked && open.length > 0
      ? "I have not looked for these elements yet: I would have to open their page first, which waits for your go too."
      : undefined,
    failed.length > 0
      ? listLines(
          failed.map(({ words, reason }) => `Not in the plan: “${quote(words)}”. ${quote(reason, 600)}`),
        )
      : undefined,
    leftOut.length > 0 ? `I did not understand, so it is not in the plan: ${quoteAll(leftOut)}.` : undefined,
    demoLabel,
  );
}

/**
 * Writes the answer to a message that says to go ahead while plan-first mode is on. Such words do not count as an
 * agreement. An agreement does not count either if plan-first mode was switched on again after it.
 */
export const writeStillWaiting = (situation: Situation): string =>
  describeWaiting(situation, [], { failed: [], leftOut: [], hasLooked: true });
