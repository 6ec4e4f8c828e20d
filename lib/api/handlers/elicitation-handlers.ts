import { answerElicitation as answerStored } from "#lib/session/elicitation/answer-elicitation.ts";
import {
  type ElicitationRow,
  findElicitation,
  listElicitations as listRows,
} from "#lib/session/store/elicitation-store.ts";
import { fail } from "../http/errors.ts";
import { formatPath } from "../http/validate.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

const PAGE = 50;

/** Answers or declines a question of the agent. Called with an API key or from the session page. */
async function answerElicitation(
  services: ApiServices,
  { params, body, caller }: CallOf<"answerElicitation" | "answerPersonElicitation">,
): Promise<Answer> {
  const settledBy = caller ? "program" : "person";
  const result = await answerStored(services, params, "answer" in body ? body.answer : null, settledBy);
  switch (result.status) {
    case "unknown":
      return fail("not_found", "no such question");
    case "settled":
      return fail("conflict", "this question is no longer open");
    case "invalid":
      return fail(
        "invalid_request",
        `${formatPath(["answer", ...result.path], "answer")}: ${result.problem}`,
      );
    case "accepted":
      return { ok: true, status: 202, body: { success: true } };
  }
}

/** Lists the questions of the agent with their answers, newest first. */
async function listElicitations(
  { db }: ApiServices,
  { params, query }: CallOf<"listElicitations">,
): Promise<Answer> {
  const { sessionId } = params;
  const { limit = PAGE, cursor } = query;
  if (cursor !== undefined && !(await findElicitation(db, sessionId, cursor))) return unknownCursor();
  const rows = await listRows(db, sessionId, { cursor, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const nextCursor = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
  return { ok: true, status: 200, body: { success: true, data: page.map(toRecord), nextCursor } };
}

const toRecord = (row: ElicitationRow) => ({
  elicitationId: row.id,
  runId: row.runId,
  toolCallId: row.callId,
  question: row.question,
  options: row.options,
  form: row.form,
  state: row.state,
  answer: row.answer,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  resolvedAt: row.resolvedAt?.toISOString() ?? null,
});

export const elicitationHandlers = {
  listElicitations,
  answerElicitation,
  answerPersonElicitation: answerElicitation,
} satisfies Partial<Handlers>;
