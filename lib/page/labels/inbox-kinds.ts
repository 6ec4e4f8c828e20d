import type { HomeInboxItem } from "../state/view-types.ts";

/** What an item of the inbox asks for, in one word. */
export const INBOX_KIND_WORDS: Record<HomeInboxItem["kind"], string> = {
  question: "Question",
  approval: "Approval",
  handover: "Handover",
  budget: "Budget",
  plan: "Plan",
};
