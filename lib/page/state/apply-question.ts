import type { DomainEvent } from "#lib/events/event.ts";
import type { QuestionView } from "./view-types.ts";

/** Applies an event about a question to the questions of the conversation. Pure. An unknown question changes nothing. */
export function applyQuestionEvent(
  questions: QuestionView[],
  event: Extract<DomainEvent, { kind: "elicitation.requested" | "elicitation.resolved" }>,
): QuestionView[] {
  const { elicitationId } = event;
  const index = questions.findIndex((each) => each.elicitationId === elicitationId);
  const found = questions[index];
  if (event.kind === "elicitation.resolved")
    return found ? questions.with(index, { ...found, state: event.state, answer: event.answer }) : questions;
  const { toolCallId, question, form } = event;
  const asked: QuestionView = { elicitationId, toolCallId, question, form, state: "open", answer: null };
  return found ? questions : [...questions, asked];
}
