import type { Receipt } from "#lib/receipts/find/receipt.ts";
import { findNewestReceipts } from "#lib/receipts/receipts-store.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/deliverable/receipts`: lists where the values of a result are in what the session saw. */
async function listReceipts({ db }: ApiServices, { params, query }: CallOf<"listReceipts">): Promise<Answer> {
  const row = await findNewestReceipts(db, params.sessionId, query.runId);
  if (!row && query.runId !== undefined) return fail("not_found", "no such ready result");
  if (!row) return answer(null, "none", []);
  if (row.list === null) return answer(row.runId, "pending", []);
  // The cast is safe because only the worker thread that looks up values writes the list.
  return answer(row.runId, "ready", JSON.parse(row.list) as Receipt[]);
}

const answer = (runId: string | null, state: "none" | "pending" | "ready", data: Receipt[]): Answer => ({
  ok: true,
  status: 200,
  body: { success: true, runId, state, data, nextCursor: null },
});

export const receiptHandlers = { listReceipts } satisfies Partial<Handlers>;
