import {
  PLAN_AGREED_TEXT,
  PLAN_ITEM_STATUSES,
  type PlanItemStatus,
  type PlanMode,
} from "#db/schema/unions.ts";
import type { ToolExchange } from "../tool-exchange.ts";

export type PlannedItem = { id: string; status: PlanItemStatus; text: string };

/** The plan as the transcript shows it. */
export type PlanState = {
  mode: PlanMode;
  /** 0 for a plan that was never written. */
  revision: number;
  items: PlannedItem[];
  /** Whether only the beginning of the plan was shown. */
  isCut: boolean;
};

/** Patterns for the lines in the instructions that state a mode. */
const MODE_LINES: [RegExp, PlanMode][] = [
  [/^- Plan first: a person wants to agree to /m, "plan_first"],
  [/^- A person has agreed to the plan: /m, "agreed"],
];
/** Matches the answers to `update_plan` and to calls that change something, while no person has agreed to the plan. */
const WAITS =
  /(?: was not run: a person wants to agree to a plan |^A person wants to agree to the plan first: )/m;
const PLAN = /^The plan, revision (\d{1,9}):\n/m;
const ITEM = new RegExp(`^- ([a-z][a-z0-9_-]{0,15}) \\[(${PLAN_ITEM_STATUSES.join("|")})\\] (.*)$`);

/** Reads the plan from a text of the service; undefined if it contains none. */
export function readShownPlan(text: string): Pick<PlanState, "revision" | "items" | "isCut"> | undefined {
  const head = PLAN.exec(text);
  if (!head) return undefined;
  const [list = ""] = text.slice(head.index + head[0].length).split("\n\n", 1);
  // A cut plan ends in an ellipsis. A complete plan whose last item ends in an ellipsis is also treated as cut.
  const isCut = list.endsWith("…");
  const items: PlannedItem[] = [];
  for (const line of list.split("\n")) {
    const [, id, status, words = ""] = ITEM.exec(line) ?? [];
    if (id === undefined) break;
    // The cast is safe: the pattern matches only statuses.
    items.push({ id, status: status as PlanItemStatus, text: words });
  }
  if (isCut) items.pop();
  return { revision: Number(head[1]), items, isCut };
}

/**
 * Reads the plan and its mode from the instructions, the last message and the tool results. The tool results of the
 * turn, and a message that agrees to the plan, override the instructions, because the instructions are from the
 * beginning of the turn.
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
  // Ignores successful results of tools other than `update_plan`, because the data of a page may contain words that
  // `WAITS` matches.
  const isOfService = ({ toolName, result }: ToolExchange) => toolName === "update_plan" || result?.isError;
  if (exchanges.some((each) => isOfService(each) && WAITS.test(each.result?.text ?? "")))
    state.mode = "plan_first";
  return state;
}

/** Whether an item is still to do or in progress. */
export const isOpen = ({ status }: PlannedItem): boolean => status === "todo" || status === "in_progress";

/** Whether the service posted this message because a person agreed to the plan. */
export const isGo = (message: string): boolean => message.startsWith(PLAN_AGREED_TEXT);

const CONSENT = /^(?:please|yes|ok(?:ay)?|sure|great|looks good|fine|then)(?:[\s,.!]+|$)/i;
const CONTINUE =
  /^(?:(?:continue|go on|go ahead|carry on|proceed|do the rest)\b[^.!?\n]{0,60}|go|start|begin|do it|do that)?[\s.!]*$/i;

/** Whether a message only asks to continue: `yes`, `ok, go ahead`, `continue with the plan`. */
export function saysContinue(message: string): boolean {
  let rest = message.trim();
  if (rest === "") return false;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replace(CONSENT, "");
  }
  return CONTINUE.test(rest);
}

/** Returns the text that the person added to the message of agreement; empty for any other message. */
export const readGoWords = (message: string): string =>
  isGo(message) ? message.slice(PLAN_AGREED_TEXT.length).trim() : "";
