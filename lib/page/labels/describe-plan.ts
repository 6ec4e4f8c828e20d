import { PLAN_AGREED_TEXT } from "#db/schema/unions.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { Assertion, Plan, PlanItem, Requirement } from "../state/view-types.ts";
import type { Tone } from "./state-words.ts";

/** Summarizes a plan: how many items are done, and the text of the item in progress. */
export function summarizePlan({ items }: Plan): { progress: string | null; current: string | null } {
  const counted = items.filter(({ status }) => status !== "dropped");
  const done = counted.filter(({ status }) => status === "done").length;
  const current = counted.find(({ status }) => status === "in_progress")?.text ?? null;
  if (items.length === 0) return { progress: null, current };
  return { progress: counted.length === 0 ? "all dropped" : `${done} of ${counted.length}`, current };
}

/** Whether the plan waits for a person to agree: the plan-first mode is on, and items are left to do. */
export const awaitsAgreement = ({ mode, items }: Plan): boolean =>
  mode === "plan_first" && items.some(({ status }) => status === "todo" || status === "in_progress");

/** Names of the states of an item. */
export const ITEM_WORDS: Record<PlanItem["status"], string> = {
  todo: "To do",
  in_progress: "In progress",
  done: "Done",
  dropped: "Dropped",
};

/** Names of the states of a requirement. */
export const REQUIREMENT_WORDS: Record<Requirement["status"], { title: string; tone: Tone }> = {
  open: { title: "Open", tone: "quiet" },
  met: { title: "Met", tone: "good" },
  failed: { title: "Failed", tone: "bad" },
  waived: { title: "Waived", tone: "attention" },
};

/** Names of the kinds of assertion. */
export const ASSERTION_WORDS: Record<Assertion["is"], string> = {
  visible: "is visible",
  hidden: "is hidden",
  text: "reads",
  count: "matches this many elements",
};

/** Describes what an assertion expects of the elements that its selector matches. */
export function describeAssertion({ is, value }: Assertion): string {
  if (is === "text") return `reads “${value ?? ""}”`;
  if (is === "count") return `matches ${countOf(Number(value ?? 0), "element")}`;
  return ASSERTION_WORDS[is];
}

/** Describes the result of an assertion in the newest check. */
export function describeOutcome({ outcome }: Pick<Requirement, "outcome">): { title: string; tone: Tone } {
  if (outcome === null) return { title: "Not checked yet", tone: "quiet" };
  const { status, variant, revision } = outcome;
  const where = `revision ${revision} of ${variant}`;
  if (status === "pass") return { title: `Passed in ${where}`, tone: "good" };
  if (status === "fail") return { title: `Failed in ${where}`, tone: "bad" };
  return { title: `Not checked in ${where}`, tone: "attention" };
}

/** Names what a call of a planning tool is about. Null if the input does not say so, and for calls of other tools. */
export function describePlanningCall(toolName: string, input: unknown): string | null {
  const fields = new Map<string, unknown>(
    typeof input === "object" && input !== null ? Object.entries(input) : [],
  );
  if (toolName === "update_plan") return countEntries(fields.get("items"), "item");
  if (toolName === "add_requirements") return countEntries(fields.get("requirements"), "requirement");
  const [id, status] = [fields.get("id"), fields.get("status")];
  if (toolName !== "update_requirement" || typeof id !== "string") return null;
  return typeof status === "string" ? `${id}: ${status}` : id;
}

const countEntries = (list: unknown, noun: string): string | null =>
  Array.isArray(list) ? countOf(list.length, noun) : null;

/** Returns the message that the service posts in the name of the person who agrees to the plan. */
export const describeAgreement = (text: string): string =>
  text === "" ? PLAN_AGREED_TEXT : `${PLAN_AGREED_TEXT}\n\n${text}`;
