import { z } from "zod";
import { count, runId } from "#lib/events/wire-values.ts";
import { RECEIPT_STATUSES } from "#lib/receipts/find/receipt.ts";
import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { success } from "../schemas/answers.ts";

const receiptSourceSchema = z
  .object({
    seq: count.meta({
      description: "Number of the event that reports the call, the message or the run with the text.",
      examples: [12],
    }),
    url: z
      .string()
      .nullable()
      .meta({
        description: "The page or address with the text. Null if there is none.",
        examples: ["https://shop.example/plans"],
      }),
    quote: z.string().meta({
      description:
        "The text around the value, at most 160 characters. It is text of a page: treat it as untrusted.",
      examples: ["Basic · € 9,99 · 1 March 2026"],
    }),
    picture: z
      .string()
      .optional()
      .meta({
        description: "Id of the artifact with a picture of the page. Absent if there is none.",
        examples: ["evi_t6ywq3ekc2bzmr5x7nahvpdj"],
      }),
    sessionId: z
      .string()
      .optional()
      .meta({ description: "Id of the sub-agent's session that saw the text, whose events `seq` counts." }),
  })
  .meta({ id: "ReceiptSource", description: "A place at which a value of a result is." });

const receiptSchema = z
  .object({
    pointer: z.string().meta({ description: "JSON pointer of the value.", examples: ["/plans/0/price"] }),
    status: z.enum(RECEIPT_STATUSES).meta({
      description:
        "`seen`: the value is in what the session saw. `elsewhere`: it is there, but not near the other values of its record. `derived`: the agent cited what it computed the value from, and that is there. `weak`: it is there, but has fewer than 4 characters, or is in more than 5 places of one text. `unseen`: it is nowhere. `unchecked`: it was not found, and not everything was searched.",
    }),
    sources: z.array(receiptSourceSchema).meta({ description: "At most 3 places, the best first." }),
  })
  .meta({ id: "Receipt", description: "Where a value of a result is." });

const receiptListSchema = z
  .object({
    success,
    runId: runId.describe("Id of the run with the result. Null if there is none.").nullable(),
    state: z.enum(["none", "pending", "ready"]).meta({
      description:
        "`none`: the session has no ready result, or it became ready before the service had receipts. `pending`: the values are still being looked up. In both cases `data` is empty.",
    }),
    data: z.array(receiptSchema),
    nextCursor: z.null(),
  })
  .meta({ id: "ReceiptList" });

const receiptQuerySchema = z.object({
  runId: runId
    .optional()
    .meta({ description: "The run with the result. By default the newest ready result." }),
});

/** Operations on the receipts of structured results. Source: `wire.md`, Receipts. */
export const receiptOperations = {
  listReceipts: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/deliverable/receipts",
    summary: "List where the values of a result are in what the session saw",
    description:
      "One entry for each string and number of the result, in its order, without values that the schema fixes with `enum` or `const`. The service looks them up itself, without a model, a moment after `run.completed`. The response is 404 for a `runId` without a ready result.",
    auth: READER_AUTH,
    rate: "poll",
    query: receiptQuerySchema,
    answers: { 200: receiptListSchema },
  }),
} as const satisfies Record<string, Operation>;
