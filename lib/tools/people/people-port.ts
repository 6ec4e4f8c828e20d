import type { ToolCall } from "../tool.ts";

/** What a person answered, or why none did. */
export type ElicitationOutcome =
  | { state: "answered"; answer: string }
  | { state: "declined" }
  | { state: "unanswered"; reason: string };

/** How a tool asks the people on the session page. */
export type PeoplePort = {
  /** Shows a question on the session page and waits for its answer, the call's signal or the deadline. */
  ask: (
    call: ToolCall & { runId: string },
    question: { question: string; options: string[] | null; timeoutMs: number },
  ) => Promise<ElicitationOutcome>;
};
