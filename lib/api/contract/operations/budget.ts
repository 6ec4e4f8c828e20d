import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { budgetAnswerSchema, budgetChangeSchema } from "../schemas/budget.ts";

export const budgetOperations = {
  readBudget: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/budget",
    summary: "Read the budget of a session and what it has spent",
    description:
      "Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root session.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: budgetAnswerSchema },
  }),
  changeBudget: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/budget",
    summary: "Change the budget of a session and continue its turn",
    description:
      "Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait because of the budget continue if it is no longer used up. A lower limit applies before the next model call. Repeating the call has no further effect.",
    bodyExamples: { "Raise two limits": { usd: 10, tokens: 500_000 }, "Remove a limit": { minutes: null } },
    auth: KEY_AUTH,
    rate: "poll",
    body: budgetChangeSchema,
    bodyBytesMax: 64 * 1024,
    answers: { 200: budgetAnswerSchema },
  }),
} as const satisfies Record<string, Operation>;
