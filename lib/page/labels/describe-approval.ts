import type { InboxItem } from "../state/view-types.ts";

/** Describes how a call that waited for approval was settled, and by whom. */
export function describeApproval({ state, settledBy }: Pick<InboxItem, "state" | "settledBy">): string {
  const by = settledBy === "program" ? "a program" : "a person";
  switch (state) {
    case "approved":
      return `Already approved by ${by}.`;
    case "denied":
      return `Already denied by ${by}.`;
    case "expired":
      return "It has expired, so the call is not run.";
    default:
      return "It was withdrawn: a message or a stop ended the wait.";
  }
}
