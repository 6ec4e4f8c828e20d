import { readDemoTask } from "../demo-task.ts";
import { addressOf, findOpenUrl, followLink, openPage, sincePageChange } from "../reach-page.ts";
import type { DemoStep, Situation } from "../situation.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { correctRefusal } from "./correct-refusal.ts";
import type { EditRequest } from "./edit-request.ts";
import { listAdded, type PlannedChange, prepareEdit } from "./prepare-changes.ts";
import type { Edit } from "./read-edit.ts";
import { isEmptied, listDropped, readHistory, readStored, type VariantHistory } from "./variant-history.ts";
import {
  type EditPlan,
  writeCannotEdit,
  writeCannotOpen,
  writeEditHelp,
  writeEditReport,
  writeNoWay,
} from "./write-edit-report.ts";

const isApply = ({ toolName }: ToolExchange) => toolName === "apply_variant";
const report = (text: string): DemoStep => ({ kind: "report", text });

/**
 * Plans the next step of a turn that changes a page: open the page, find the elements, store and apply a revision,
 * check the revision, report. If the message names a page, no other page is changed.
 */
export function planEdit(situation: Situation, request: EditRequest): DemoStep {
  const { exchanges, earlier } = situation;
  const missing = findMissing(situation, request);
  if (missing.length > 0) return report(writeCannotEdit(missing));
  if (request.edits.length === 0 && request.undo === undefined) return report(writeEditHelp(request));

  const attempts = exchanges.filter(isApply);
  const preparation = listPreparation(exchanges);
  const reaching = attempts.length === 0 ? reachPage(situation, request) : undefined;
  if (reaching) return reaching;
  const onPage = sincePageChange(preparation);
  const edits = request.edits.map((edit) => ({ edit, prepared: prepareEdit(edit, onPage) }));
  const queries = edits.flatMap(({ prepared }) => (prepared.kind === "query" ? [prepared.input] : []));
  if (queries.length > 0) return queryStep(queries);

  const history = readHistory([...earlier, ...preparation], situation.revision);
  const plan: EditPlan = { edits, drop: chooseDrop(request, history), history };
  const step = attempts.length === 0 ? applyStep(plan) : followUp(situation, attempts);
  const check = exchanges.findLast(({ toolName }) => toolName === "check_variant");
  return step ?? report(writeEditReport(request, plan, attempts, check));
}

/** Returns the names of the tools that a request needs and the turn does not offer. */
export const findMissing = ({ tools }: Situation, { edits }: EditRequest): string[] =>
  ["apply_variant", ...(edits.length > 0 ? ["dom_query"] : [])].filter((name) => !tools.has(name));

/** Returns the exchanges before the first `apply_variant` call. */
function listPreparation(exchanges: ToolExchange[]): ToolExchange[] {
  const first = exchanges.findIndex(isApply);
  return first === -1 ? exchanges : exchanges.slice(0, first);
}

/** Whether this turn stored all changes of a request. */
export function isCarriedOut({ exchanges }: Situation, { edits, undo, leftOut }: EditRequest): boolean {
  const last = exchanges.findLast(isApply);
  if (last === undefined || readStored(last) === undefined || leftOut.length > 0) return false;
  const added = listAdded(last.input);
  const onPage = sincePageChange(listPreparation(exchanges));
  const isAdded = (edit: Edit) => {
    const prepared = prepareEdit(edit, onPage);
    const hasChange = ({ op, note }: PlannedChange) =>
      added.some((each) => each.op === op && each.note === note);
    return prepared.kind === "ready" && prepared.changes.every(hasChange);
  };
  return edits.every(isAdded) && (undo === undefined || listDropped(last.input).length > 0);
}

/** Whether the page of a request is open, so that its elements can be queried. */
export function isOnPage(
  { earlier, exchanges, currentUrl }: Situation,
  { url, place }: EditRequest,
): boolean {
  const open = findOpenUrl(exchanges) ?? currentUrl ?? findOpenUrl(earlier);
  if (open === undefined) return false;
  if (url !== undefined && addressOf(url) !== addressOf(open)) return false;
  return readDestination(place)?.matches.test(open) ?? true;
}

/**
 * Opens the page that the message names, or reports why that is impossible. Returns undefined if the page is open, or
 * if the request only undoes changes and so needs no page.
 */
function reachPage(situation: Situation, request: EditRequest): DemoStep | undefined {
  const { exchanges, earlier, currentUrl } = situation;
  if (request.edits.length === 0) return undefined;
  const destination = readDestination(request.place);
  const step = openPage(situation, request) ?? followLink(situation, destination ? { destination } : {});
  if (step) return step;
  const failed = exchanges.findLast(
    ({ toolName, result }) => toolName === "browser_execute" && result?.isError,
  );
  if (failed) return report(writeCannotOpen(failed));
  const open = findOpenUrl([...earlier, ...exchanges]) ?? currentUrl ?? "";
  return destination && !destination.matches.test(open) ? report(writeNoWay(destination.word)) : undefined;
}

/**
 * Returns the destination that `place` describes. If `place` is not a known part of a site, `matches` looks for the
 * words of `place`, in this order.
 */
function readDestination(place: string | undefined): { word: string; matches: RegExp } | undefined {
  if (place === undefined) return undefined;
  const words = place.match(/[\p{L}\p{N}]+/gu) ?? [];
  return (
    readDemoTask(place).destination ?? { word: place, matches: new RegExp(words.join("[^a-z0-9]*"), "i") }
  );
}

/** Plans a step that makes these queries with `dom_query`. Equal queries are made only once. */
export function queryStep(queries: Record<string, unknown>[]): DemoStep {
  const unique = [...new Map(queries.map((input) => [JSON.stringify(input), input])).values()];
  return {
    kind: "calls",
    say: unique.length === 1 ? "I look for the element." : "I look for the elements.",
    calls: unique.map((input) => ({ toolName: "dom_query", input })),
  };
}

/** Returns the ids of the changes to undo. */
function chooseDrop({ undo }: EditRequest, { groups }: VariantHistory): string[] {
  if (undo === undefined) return [];
  return (undo === "all" ? groups : groups.slice(-1)).flatMap(({ ids }) => ids);
}

/** Plans the call that stores all changes as one revision; undefined if no change is possible. */
function applyStep({ edits, drop, history }: EditPlan): DemoStep | undefined {
  const changes = edits.flatMap(({ prepared }) => (prepared.kind === "ready" ? prepared.changes : []));
  // Insertions come last, because they shift the positions that selectors such as `:nth-of-type` count.
  const isInsertion = ({ op }: PlannedChange) => op === "insert";
  const add = [...changes.filter((change) => !isInsertion(change)), ...changes.filter(isInsertion)];
  if (add.length === 0 && drop.length === 0) return undefined;
  const input = {
    baseRevision: history.newest,
    ...(add.length > 0 ? { add } : {}),
    ...(drop.length > 0 ? { drop } : {}),
  };
  const say = add.length > 0 ? "I change the page." : "I take the changes back.";
  return { kind: "calls", say, calls: [{ toolName: "apply_variant", input }] };
}

/**
 * Plans a corrected call after a refusal, or the check of a stored revision. Returns undefined if neither is possible
 * or necessary.
 */
function followUp({ tools, exchanges }: Situation, attempts: ToolExchange[]): DemoStep | undefined {
  const last = attempts.at(-1);
  if (last === undefined) return undefined;
  if (readStored(last) === undefined) {
    const input = last.result?.isError ? correctRefusal(attempts) : undefined;
    if (input === undefined) return undefined;
    return { kind: "calls", say: "I correct the call.", calls: [{ toolName: "apply_variant", input }] };
  }
  const isChecked = exchanges.some(({ toolName }) => toolName === "check_variant");
  if (!tools.has("check_variant") || isChecked || isEmptied(last)) return undefined;
  return { kind: "calls", say: "I check the revision.", calls: [{ toolName: "check_variant", input: {} }] };
}
