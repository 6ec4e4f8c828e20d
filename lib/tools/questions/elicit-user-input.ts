import { z } from "zod";
import type { ElicitationForm } from "#db/schema/index.ts";
import { FORM_FIELDS_MAX, formSchema } from "#lib/events/form-schema.ts";
import type { ToolServices } from "../services.ts";
import { defineTool, errorResult, ServiceFailure, waitFor } from "../tool.ts";

const DAY_S = 86_400;
const PROCEED_ADVICE =
  "Do not wait and do not ask again: continue with the most sensible assumption, and state it in your reply.";

/** What the model is told if no person can be asked in its turn. */
export const NO_PERSON = `No person can answer: this turn was not started by a person. ${PROCEED_ADVICE}`;

/** `elicit_user_input`: asks the people on the session page a question. Works only in a turn that may ask. */
export const elicitUserInput = ({ people }: Pick<ToolServices, "people">) =>
  defineTool({
    name: "elicit_user_input",
    description: `Asks the person on the session page what only a person can answer, and waits. One plain question, or a form for several values (at most ${FORM_FIELDS_MAX}).`,
    input: z.object({
      question: z.string().trim().min(1).max(2_000),
      options: z
        .array(z.string().trim().min(1).max(200))
        .min(2)
        .max(8)
        .optional()
        .describe("answers to choose from; another one may be written"),
      form: z
        .looseObject({})
        .optional()
        .describe(
          'flat JSON Schema: {"properties":{"email":{"type":"string","format":"email"}},"required":["email"]}. Types: string (enum; format date, date-time, email, uri), number, integer, boolean, array of enum items',
        ),
      timeoutSeconds: z
        .int()
        .min(10)
        .max(7 * DAY_S)
        .default(DAY_S)
        .describe("86400 by default"),
    }),
    // A repeated call finds the question that the first call asked.
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ question, options, form, timeoutSeconds }, call) {
      const { runId } = call;
      if (!call.mayAskPeople || runId === null) return NO_PERSON;
      if (form && options)
        return errorResult("Give options or a form, not both. The question was not asked.");
      const parsed = form && formSchema.safeParse(form);
      if (parsed?.success === false)
        return errorResult(
          `The form is not valid, so the question was not asked:\n${z.prettifyError(parsed.error)}\nGive it as described for this tool.`,
        );
      const result = await people
        .ask(
          { ...call, runId },
          {
            question,
            options: options ?? null,
            form: parsed ? (parsed.data satisfies ElicitationForm) : null,
            timeoutMs: call.answerTimeoutMs ?? timeoutSeconds * 1_000,
          },
          call.waitEndedBy,
        )
        .catch((error: unknown) => {
          // A person's answer may already be stored, so the engine repeats the call instead of showing the model a failure.
          throw new ServiceFailure(error);
        });
      switch (result.state) {
        case "open":
          return waitFor({ kind: "person", subjects: [result.id], deadlineAt: result.expiresAt });
        case "answered":
          return `The person answered: ${typeof result.answer === "string" ? result.answer : JSON.stringify(result.answer)}`;
        case "declined":
          return `The person declined to answer. ${PROCEED_ADVICE}`;
        case "unanswered":
          return `No person answered in time. ${PROCEED_ADVICE}`;
        case "withdrawn":
          return "Interrupted by a message: the question is no longer open. Read the message; ask again if you still need the answer.";
      }
    },
  });
