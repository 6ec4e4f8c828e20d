import { z } from "zod";
import { success } from "./answers.ts";

const usd = z
  .number({ error: "must be a number of US dollars > 0" })
  .positive({ error: "must be a number of US dollars > 0" })
  .max(1_000_000, { error: "must be at most 1,000,000" })
  .meta({
    description:
      "Limit on the cost of model calls, in US dollars. Refused with 400 if the deployment has no price for its model (`MODEL_PRICES`).",
    examples: [5],
  });
const tokens = z
  .number({ error: "must be an integer >= 1" })
  .refine((count) => Number.isSafeInteger(count) && count >= 1, { error: "must be an integer >= 1" })
  .meta({
    shownAs: { type: "integer", minimum: 1 },
    description: "Limit on the tokens of all model calls: the sum of input, cached input and output.",
    examples: [200_000],
  });
const minutes = z
  .number({ error: "must be a number of minutes > 0" })
  .positive({ error: "must be a number of minutes > 0" })
  .max(1_000_000, { error: "must be at most 1,000,000" })
  .meta({
    description:
      "Limit on the total working time of all turns, in minutes, including the turns of sub-agents. Time during which a turn waits does not count. If several sub-agents work at the same time, the time of each one counts.",
    examples: [30],
  });

/** The limits of a session's budget. Source: `wire.md`, Budgets. */
export const budgetSchema = z
  .strictObject({ usd: usd.optional(), tokens: tokens.optional(), minutes: minutes.optional() })
  .meta({
    id: "Budget",
    description:
      "What the session and its sub-agents may spend together, over all of their turns. When a limit is reached, the turn waits until the budget is raised. Limits are compared before each model call, so the last call may exceed a limit.",
  });

export const budgetChangeSchema = z
  .strictObject({
    usd: usd.nullable().optional(),
    tokens: tokens.nullable().optional(),
    minutes: minutes.nullable().optional(),
  })
  .meta({
    id: "BudgetChange",
    description: "New limits of a session. An omitted limit stays unchanged; null removes a limit.",
  });

const limit = (what: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `Limit in ${what}. Null if there is no limit.`, examples: [null] });

const limits = {
  usd: limit("US dollars"),
  tokens: limit("tokens"),
  minutes: limit("working minutes"),
};
const spentSchema = z
  .object({
    usd: z
      .number()
      .nullable()
      .meta({
        description:
          "Spent US dollars, at the price at the time of each call. Null if the deployment has no price for its model.",
        examples: [1.25],
      }),
    tokens: z.number().meta({ description: "Spent tokens.", examples: [48_210] }),
    minutes: z.number().meta({ description: "Spent working minutes.", examples: [3.4] }),
  })
  .meta({ description: "What the session and its sub-agents have spent so far." });

/** The budget of a session, and how much of it is spent. */
export const budgetStateSchema = z.object({ ...limits, spent: spentSchema }).meta({ id: "BudgetState" });

export const budgetAnswerSchema = z
  .object({ success, budget: budgetStateSchema })
  .meta({ id: "BudgetAnswer" });
