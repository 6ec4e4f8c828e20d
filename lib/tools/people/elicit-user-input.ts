import { z } from "zod";
import type { ToolServices } from "../services.ts";
import { defineTool, type Tool } from "../tool.ts";

const WAIT_MS = 600_000;
const goOn =
  "Do not wait and do not ask again: go on with the most sensible assumption, and state it in your reply.";

/** `elicit_user_input`: asks the people on the session page, on a turn that one of them started. */
export const elicitUserInput = ({ people }: Pick<ToolServices, "people">): Tool =>
  defineTool({
    name: "elicit_user_input",
    description:
      "Asks the person on the session page one question that only a person can answer, and waits up to ten minutes.",
    input: z.object({
      question: z.string().trim().min(1).max(2_000),
      options: z
        .array(z.string().trim().min(1).max(200))
        .min(2)
        .max(8)
        .optional()
        .describe("answers to choose from; the person may also write another"),
    }),
    needs: undefined,
    profile: "analysis",
    // A call that is made again after a restart shows the same question to the same person.
    idempotent: true,
    readOnly: false,
    timeoutMs: WAIT_MS + 15_000,
    async execute({ question, options }, call) {
      const { runId } = call;
      if (call.origin !== "person" || runId === null)
        return `Nobody is there to answer: no person started this turn. ${goOn}`;
      const outcome = await people.ask(
        { ...call, runId },
        { question, options: options ?? null, timeoutMs: WAIT_MS },
      );
      switch (outcome.state) {
        case "answered":
          return `The person answered: ${outcome.answer}`;
        case "declined":
          return `The person declined to answer. ${goOn}`;
        case "unanswered":
          return `No answer came: ${outcome.reason}. ${goOn}`;
      }
    },
  });
