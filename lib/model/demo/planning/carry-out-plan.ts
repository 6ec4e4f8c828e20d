import type { PlanItemStatus } from "#db/schema/unions.ts";
import { type EditRequest, readEditRequest } from "../editing/edit-request.ts";
import { isCarriedOut, planEdit } from "../editing/plan-edit.ts";
import type { DemoStep, Situation } from "../situation.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { demoLabel, join, quoteAll } from "../write-demo-report.ts";
import { isSamePlace, joinRequests } from "./plan-sentences.ts";
import { isGo, isOpen, type PlannedItem, readGoWords, readShownPlan, saysContinue } from "./plan-state.ts";

/**
 * Maximum number of `update_plan` calls for one update. A call fails if a person has changed the plan in the meantime.
 */
const TRIES_MAX = 3;

/** Whether the message asks to carry out the agreed plan. */
export const asksForPlan = ({ plan, message }: Situation): boolean =>
  plan.mode === "agreed" && (isGo(message) || (saysContinue(message) && plan.items.some(isOpen)));

const isUpdate = ({ toolName }: ToolExchange): boolean => toolName === "update_plan";
const hasSucceeded = ({ result }: ToolExchange): boolean => result?.isError === false;

/**
 * Plans the next step of a turn that carries out an agreed plan: mark the items of one page as in progress, change the
 * page, and mark the items as done. An item whose changes were not stored becomes `todo` again.
 */
export function carryOutPlan(situation: Situation): DemoStep {
  const { exchanges, plan } = situation;
  const started = exchanges.find((each) => isUpdate(each) && hasSucceeded(each));
  // Uses the items as they were when the work began, because people may edit the plan in the meantime.
  const shown = started?.result && readShownPlan(started.result.text);
  const { tasks, elsewhere, unclear } = chooseTasks(shown?.items ?? plan.items);
  const request = joinRequests([
    ...tasks.map((task) => task.request),
    ...readAddedRequests(situation.message),
  ]);
  request.leftOut.push(...unclear);
  if (request.edits.length === 0 && request.undo === undefined)
    return { kind: "report", text: writeNothingToDo(request) };

  const work = exchanges.filter((each) => !isUpdate(each));
  if (!started && work.length === 0) {
    const statuses = new Map(tasks.map(({ item }) => [item, "in_progress" as const]));
    const step = updateStep(situation, statuses, exchanges, "I begin with the plan.");
    if (step) return step;
  }
  const onPage = { ...situation, exchanges: work };
  const step = planEdit(onPage, request);
  if (step.kind === "calls") return step;
  const done = tasks.filter((task) => isCarriedOut(onPage, task.request));
  if (started) {
    const statuses = new Map(
      tasks.map((task) => [task.item, done.includes(task) ? "done" : "todo"] as const),
    );
    const ends = exchanges.slice(1 + exchanges.findLastIndex((each) => !isUpdate(each) || each === started));
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

/** An item of the plan, and the changes that it asks for. */
type Task = { item: PlannedItem; request: EditRequest };

/**
 * Chooses the open items that are about the same page as the first open item. `elsewhere` has the texts of items about
 * other pages. `unclear` has the texts of items that the rules do not understand.
 */
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

/** Reads the request that a person added to the message of agreement. The list is empty if the person added nothing. */
function readAddedRequests(message: string): EditRequest[] {
  const words = readGoWords(message);
  return words === "" ? [] : [readEditRequest(words) ?? { edits: [], leftOut: [words] }];
}

/**
 * Plans the `update_plan` call that sets these statuses. An item that was closed or reworded in the meantime keeps its
 * status. Returns undefined if no status changes, if an earlier call has succeeded, after {@link TRIES_MAX} calls, or
 * if the turn does not offer `update_plan`. Also returns undefined if the transcript shows only a part of the plan,
 * because the call would delete the other items.
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
    const update = byId.get(item.id);
    return update && update.text === item.text && isOpen(item) ? { ...item, status: update.status } : item;
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
