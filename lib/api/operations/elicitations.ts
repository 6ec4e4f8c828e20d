import { fail } from "../http/errors.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

/** Answers or declines a question of the agent, with a key or from the session page. */
export async function answerElicitation(
  services: ApiServices,
  { params, body }: CallOf<"answerElicitation" | "answerPersonElicitation">,
): Promise<Answer> {
  const { sessionId, elicitationId } = params;
  const result = await services.elicitations.answer(
    sessionId,
    elicitationId,
    "answer" in body ? body.answer : null,
  );
  if (result === "unknown") return fail("not_found", "no such question");
  if (result === "settled") return fail("conflict", "this question has been settled already");
  return { ok: true, status: 202, body: { success: true } };
}
