import {
  PLAN_AGREED_TEXT,
  PLAN_ITEM_STATUSES,
  type PlanItemStatus,
  type PlanMode,
} from "#db/schema/unions.ts";
import type { ToolExchange } from "../situation.ts";

export type PlannedItem = { id: string; status: PlanItemStatus; text: string };

/** The plan as far as the model has been shown it. */
export type PlanState = {
  mode: PlanMode;
  /** 0 for a plan that was never written. */
  revision: number;
  items: PlannedItem[];
  /** Whether only its beginning was shown. */
  isCut: boolean;
};

/** The beginnings of the lines about the mode in the instructions of a turn. */
const MODE_LINES: [RegExp, PlanMode][] = [
  [/^- Plan first: a person wants to agree to /m, "plan_first"],
  [/^- A person has agreed to the plan: /m, "agreed"],
];
/** What the service answers to a call that changes something, and to `update_plan`, while the plan is not agreed. */
const WAITS =
  /(?: was not run: a person wants to agree to a plan |^A person wants to agree to the plan first: )/m;
const PLAN = /^The plan, revision (\d{1,9}):\n/m;
const ITEM = new RegExp(`^- ([a-z][a-z0-9_-]{0,15}) \\[(${PLAN_ITEM_STATUSES.join("|")})\\] (.*)$`);

/** The plan in a text of the service; undefined where it shows none. */
export function readShownPlan(text: string): Pick<PlanState, "revision" | "items" | "isCut"> | undefined {
  const head = PLAN.exec(text);
  if (!head) return undefined;
  const [list = ""] = text.slice(head.index + head[0].length).split("\n\n", 1);
  // A plan that is shown cut ends in an ellipsis. One whose last item ends so by itself is treated as cut too.
  const isCut = list.endsWith("…");
  const items: PlannedItem[] = [];
  for (const line of list.split("\n")) {
    const [, id, status, words = ""] = ITEM.exec(line) ?? [];
    if (id === undefined) break;
    // The pattern holds the statuses alone.
    items.push({ id, status: status as PlanItemStatus, text: words });
  }
  if (isCut) items.pop();
  return { revision: Number(head[1]), items, isCut };
}

/**
 * Reads the plan and its mode from the instructions, the last message and the answers of tools. The instructions are those
 * of the beginning of the turn: a message that agrees to the plan, and an answer in the turn, are newer.
 */
export function readPlanState(
  instructions: string,
  message: string,
  { earlier, exchanges }: { earlier: ToolExchange[]; exchanges: ToolExchange[] },
): PlanState {
  const state: PlanState = {
    mode: MODE_LINES.find(([line]) => line.test(instructions))?.[1] ?? "off",
    revision: 0,
    items: [],
    isCut: false,
    ...readShownPlan(instructions),
  };
  for (const { toolName, result } of [...earlier, ...exchanges]) {
    const answered = toolName === "update_plan" && result ? readShownPlan(result.text) : undefined;
    if (answered && answered.revision >= state.revision) Object.assign(state, answered);
  }
  if (isGo(message)) state.mode = "agreed";
  // Pages may say the same words; they are in answers that succeeded.
  const isOfService = ({ toolName, result }: ToolExchange) => toolName === "update_plan" || result?.isError;
  if (exchanges.some((each) => isOfService(each) && WAITS.test(each.result?.text ?? "")))
    state.mode = "plan_first";
  return state;
}

/** Whether an item is still to be done. */
export const isOpen = ({ status }: PlannedItem): boolean => status === "todo" || status === "in_progress";

/** Whether a message is the one that the service posts for the person who agrees to the plan. */
export const isGo = (message: string): boolean => message.startsWith(PLAN_AGREED_TEXT);

const CONSENT = /^(?:please|yes|ok(?:ay)?|sure|great|looks good|fine|then)(?:[\s,.!]+|$)/i;
const CONTINUE =
  /^(?:(?:continue|go on|go ahead|carry on|proceed|do the rest)\b[^.!?\n]{0,60}|go|start|begin|do it|do that)?[\s.!]*$/i;

/** Whether a message says to go on, and nothing else: `yes`, `ok, go ahead`, `continue with the plan`. */
export function saysContinue(message: string): boolean {
  let rest = message.trim();
  if (rest === "") return false;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replace(CONSENT, "");
  }
  return CONTINUE.test(rest);
}

/** What the person adds to the agreement. */
export const readGoWords = (message: string): string =>
  isGo(message) ? message.slice(PLAN_AGREED_TEXT.length).trim() : "";
