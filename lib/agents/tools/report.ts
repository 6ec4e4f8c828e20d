import { z } from "zod";
import { defineTool, errorResult } from "#lib/tools/tool.ts";
import type { AgentsDeps } from "../agents-deps.ts";
import { reportProgress, submitResult } from "../submit-result.ts";

/** The name of the tool that ends a sub-agent's turn if its call succeeds. */
export const SUBMIT_RESULT = "submit_result";

/** `submit_result`: submits the result of a sub-agent and ends its turn. */
export const submitResultTool = (deps: Pick<AgentsDeps, "db" | "schemas">) =>
  defineTool({
    name: SUBMIT_RESULT,
    description:
      "Hands your result to the agent that gave you the task, and ends your turn. Call it once, alone, when the task is done.",
    input: z.object({
      result: z
        .unknown()
        .describe("any JSON value; it has to fit the JSON Schema of your instructions, if there is one"),
    }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ result }, { sessionId, runId }) {
      if (runId === null) return errorResult("submit_result works in a turn only.");
      if (result === undefined) return errorResult("submit_result: result is required.");
      const refusal = await submitResult(deps, sessionId, result);
      return refusal === undefined ? "Submitted." : errorResult(refusal);
    },
  });

/** `report_progress`: shows people a line of text. The parent's model sees the text only if it calls `list_agents`. */
export const reportProgressTool = (deps: Pick<AgentsDeps, "db" | "log">) =>
  defineTool({
    name: "report_progress",
    description: "Tells people in a sentence how far you are. For long tasks; it is not your result.",
    input: z.object({ text: z.string().trim().min(1).max(500) }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ text }, { sessionId }) {
      await reportProgress(deps, sessionId, text);
      return "Reported.";
    },
  });
