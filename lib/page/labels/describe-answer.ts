import type { FormValue, QuestionView } from "../state/view-types.ts";

/** Why a question has no answer. Null for a question that was answered. */
const NOTES: Record<QuestionView["state"], string | null> = {
  open: "Waiting for an answer",
  answered: null,
  declined: "Declined",
  unanswered: "Not answered in time",
  withdrawn: "Withdrawn: a message or a stop ended the question",
};

/** Describes the answer to a question: each field with its value, or why there is none. */
export function describeAnswer({ state, answer, form }: QuestionView): {
  note: string | null;
  answers: { name: string; value: string }[];
} {
  if (answer === null) return { note: NOTES[state], answers: [] };
  if (typeof answer === "string") return { note: null, answers: [{ name: "Answer", value: answer }] };
  const answers = Object.entries(answer).map(([name, value]) => {
    const field = form && Object.hasOwn(form.properties, name) ? form.properties[name] : undefined;
    return { name: field?.title ?? name, value: formatValue(value) };
  });
  return { note: answers.length === 0 ? "Answered without values" : null, answers };
}

function formatValue(value: FormValue): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return String(value);
}
