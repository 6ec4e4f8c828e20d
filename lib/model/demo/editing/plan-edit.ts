import { readDemoTask } from "../demo-task.ts";
import { findOpenUrl, followLink, openPage, sincePageChange } from "../reach-page.ts";
import type { DemoStep, Situation, ToolExchange } from "../situation.ts";
import { correctRefusal } from "./correct-refusal.ts";
import type { EditRequest } from "./edit-request.ts";
import { type PlannedChange, prepareEdit } from "./prepare-changes.ts";
import { isEmptied, readHistory, readStored, type VariantHistory } from "./variant-history.ts";
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
 * The next step of a turn that changes a page: open it, find the elements, store and apply a revision, check it, report.
 * Nothing is changed on a page other than the one that the message names.
 */
export function planEdit(situation: Situation, request: EditRequest): DemoStep {
  const { tools, exchanges, earlier } = situation;
  const needed = ["apply_variant", ...(request.edits.length > 0 ? ["dom_query"] : [])];
  const missing = needed.filter((name) => !tools.has(name));
  if (missing.length > 0) return report(writeCannotEdit(missing));
  if (request.edits.length === 0 && request.undo === undefined) return report(writeEditHelp(request));

  const attempts = exchanges.filter(isApply);
  const looks = attempts[0] === undefined ? exchanges : exchanges.slice(0, exchanges.indexOf(attempts[0]));
  const reaching = attempts.length === 0 ? reachPage(situation, request) : undefined;
  if (reaching) return reaching;
  const onPage = sincePageChange(looks);
  const edits = request.edits.map((edit) => ({ edit, prepared: prepareEdit(edit, onPage) }));
  const queries = edits.flatMap(({ prepared }) => (prepared.kind === "query" ? [prepared.input] : []));
  if (queries.length > 0) return queryStep(queries);

  const history = readHistory([...earlier, ...looks], situation.revision);
  const plan: EditPlan = { edits, drop: chooseDrop(request, history), history };
  const step = attempts.length === 0 ? applyStep(plan) : followUp(situation, attempts);
  const check = exchanges.findLast(({ toolName }) => toolName === "check_variant");
  return step ?? report(writeEditReport(request, plan, attempts, check));
}

/** Opens the page that the message names, or reports why that is not possible. A message that only takes back needs none. */
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

/** A known part of a site, or a page that a link names by these words. */
function readDestination(place: string | undefined): { word: string; matches: RegExp } | undefined {
  if (place === undefined) return undefined;
  const words = place.match(/[\p{L}\p{N}]+/gu) ?? [];
  return (
    readDemoTask(place).destination ?? { word: place, matches: new RegExp(words.join("[^a-z0-9]*"), "i") }
  );
}

function queryStep(queries: Record<string, unknown>[]): DemoStep {
  const unique = [...new Map(queries.map((input) => [JSON.stringify(input), input])).values()];
  return {
    kind: "calls",
    say: unique.length === 1 ? "I look for the element." : "I look for the elements.",
    calls: unique.map((input) => ({ toolName: "dom_query", input })),
  };
}

/** Ids of the changes to take back. */
function chooseDrop({ undo }: EditRequest, { groups }: VariantHistory): string[] {
  if (undo === undefined) return [];
  return (undo === "all" ? groups : groups.slice(-1)).flatMap(({ ids }) => ids);
}

/** Stores all changes as one revision; undefined if none of them is possible. */
function applyStep({ edits, drop, history }: EditPlan): DemoStep | undefined {
  const changes = edits.flatMap(({ prepared }) => (prepared.kind === "ready" ? prepared.changes : []));
  // New elements come last, because they shift the places that selectors such as `:nth-of-type` count.
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

/** After a refusal, another call if there is a better one; after a stored revision, its check. */
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
