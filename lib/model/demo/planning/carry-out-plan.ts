import type { PlanItemStatus } from "#db/schema/unions.ts";
import { type EditRequest, readEditRequest } from "../editing/edit-request.ts";
import { isCarriedOut, planEdit } from "../editing/plan-edit.ts";
import type { DemoStep, Situation, ToolExchange } from "../situation.ts";
import { demoLabel, join, quoteAll } from "../write-demo-report.ts";
import { isSamePlace, joinRequests } from "./plan-sentences.ts";
import { isGo, isOpen, type PlannedItem, readGoWords, readShownPlan, saysContinue } from "./plan-state.ts";

/** A person may change the plan between two tries. */
const TRIES_MAX = 3;

/** Whether the message asks for what the agreed plan says. */
export const asksForPlan = ({ plan, message }: Situation): boolean =>
  plan.mode === "agreed" && (isGo(message) || (saysContinue(message) && plan.items.some(isOpen)));

const isUpdate = ({ toolName }: ToolExchange): boolean => toolName === "update_plan";
const hasSucceeded = ({ result }: ToolExchange): boolean => result?.isError === false;

/**
 * The next step of a turn that carries out an agreed plan: mark the items of one page as in progress, change the page, and
 * tick off what was changed.
 */
export function carryOutPlan(situation: Situation): DemoStep {
  const { exchanges, plan } = situation;
  const begun = exchanges.find((each) => isUpdate(each) && hasSucceeded(each));
  // The items as they were when the work began: people may edit them meanwhile.
  const shown = begun?.result && readShownPlan(begun.result.text);
  const { tasks, elsewhere, unclear } = chooseTasks(shown?.items ?? plan.items);
  const request = joinRequests([...tasks.map((task) => task.request), ...readAdded(situation.message)]);
  request.leftOut.push(...unclear);
  if (request.edits.length === 0 && request.undo === undefined)
    return { kind: "report", text: writeNothingToDo(request) };

  const work = exchanges.filter((each) => !isUpdate(each));
  if (!begun && work.length === 0) {
    const statuses = new Map(tasks.map(({ item }) => [item, "in_progress" as const]));
    const step = updateStep(situation, statuses, exchanges, "I begin with the plan.");
    if (step) return step;
  }
  const onPage = { ...situation, exchanges: work };
  const step = planEdit(onPage, request);
  if (step.kind === "calls") return step;
  const done = tasks.filter((task) => isCarriedOut(onPage, task.request));
  if (begun) {
    const statuses = new Map(
      tasks.map((task) => [task.item, done.includes(task) ? "done" : "todo"] as const),
    );
    const ends = exchanges.slice(1 + exchanges.findLastIndex((each) => !isUpdate(each) || each === begun));
    const end = updateStep(situation, statuses, ends, "I bring the plan up to date.");
    if (end) return end;
  }
  const rest =
    elsewhere.length > 0
      ? `I left these for a turn of their own, because they are about another page: ${quoteAll(elsewhere)}. Say “continue” for them.`
      : undefined;
  const head = tasks.length > 0 ? `Plan: ${done.length} of ${tasks.length} carried out.` : undefined;
  return { kind: "report", text: join(head, rest, step.text) };
}

/** An item with the changes that it asks for. */
type Task = { item: PlannedItem; request: EditRequest };

/** The open items that are about the page of the first one. The texts of the others are answered beside them. */
function chooseTasks(items: readonly PlannedItem[]): {
  tasks: Task[];
  elsewhere: string[];
  unclear: string[];
} {
  const tasks: Task[] = [];
  const elsewhere: string[] = [];
  const unclear: string[] = [];
  for (const item of items.filter(isOpen)) {
    const request = readEditRequest(item.text, tasks.at(-1)?.request.edits.at(-1)?.target);
    if (!request || (request.edits.length === 0 && request.undo === undefined)) unclear.push(item.text);
    else if (tasks[0] && !isSamePlace(tasks[0].request, request)) elsewhere.push(item.text);
    else tasks.push({ item, request });
  }
  return { tasks, elsewhere, unclear };
}

/** What the person asks for beside the plan. */
function readAdded(message: string): EditRequest[] {
  const words = readGoWords(message);
  return words === "" ? [] : [readEditRequest(words) ?? { edits: [], leftOut: [words] }];
}

/**
 * Sets statuses of items that are open and say the same as before. Undefined if that changes nothing, was done, or is not
 * possible: an item that was not shown would be lost.
 */
function updateStep(
  { tools, plan }: Situation,
  statuses: ReadonlyMap<PlannedItem, PlanItemStatus>,
  tries: readonly ToolExchange[],
  say: string,
): DemoStep | undefined {
  if (!tools.has("update_plan") || plan.isCut || tries.length >= TRIES_MAX || tries.some(hasSucceeded))
    return undefined;
  const byId = new Map([...statuses].map(([{ id, text }, status]) => [id, { text, status }]));
  const items = plan.items.map((item) => {
    const set = byId.get(item.id);
    return set && set.text === item.text && isOpen(item) ? { ...item, status: set.status } : item;
  });
  if (items.every(({ status }, index) => status === plan.items[index]?.status)) return undefined;
  const input = { items, baseRevision: plan.revision };
  return { kind: "calls", say, calls: [{ toolName: "update_plan", input }] };
}

const writeNothingToDo = ({ leftOut }: EditRequest): string =>
  join(
    leftOut.length > 0
      ? `I changed nothing, because I did not understand what is left of the plan: ${quoteAll(leftOut)}.`
      : "The plan has nothing left to do, so I changed nothing.",
    demoLabel,
  );
