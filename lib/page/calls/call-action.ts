/** What became of something a person asked for: the answer, or a sentence to show. */
export type ActionOutcome<Answer> =
  | { isDone: true; answer: Answer }
  | { isDone: false; status: number; error: string };

const TIMEOUT_MS = 30_000;

type CallOptions<Answer> = {
  timeoutMs?: number;
  /** Reads the answer; as JSON by default. */
  read?: (response: Response) => Promise<Answer>;
};

/** Calls a route of the page's own and turns every way to fail into a sentence. Never throws. */
export async function callAction<Answer>(
  fetcher: typeof fetch,
  method: string,
  path: string,
  body?: unknown,
  { timeoutMs = TIMEOUT_MS, read }: CallOptions<Answer> = {},
): Promise<ActionOutcome<Answer>> {
  const init: RequestInit = { method, credentials: "same-origin", signal: AbortSignal.timeout(timeoutMs) };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  try {
    const response = await fetcher(path, init);
    if (response.ok) {
      if (read) return { isDone: true, answer: await read(response) };
      // Same service, same contract; a body that breaks off or is no JSON is as good as none, and is caught below.
      const answer: unknown = response.status === 204 ? undefined : await response.json();
      return { isDone: true, answer: answer as Answer };
    }
    const refusal: unknown = await response.json().catch(() => undefined);
    return { isDone: false, status: response.status, error: sentenceOf(refusal, response.status) };
  } catch {
    return {
      isDone: false,
      status: 0,
      error: "The service did not answer. Check that it runs, then try again.",
    };
  }
}

/** The outcome of a call with the one field of its answer that the page needs. */
export const pick = <Name extends string, Value>(
  outcome: ActionOutcome<{ [Key in Name]: Value }>,
  name: Name,
): ActionOutcome<Value> => (outcome.isDone ? { isDone: true, answer: outcome.answer[name] } : outcome);

function sentenceOf(answer: unknown, status: number): string {
  if (
    typeof answer === "object" &&
    answer !== null &&
    "error" in answer &&
    typeof answer.error === "string"
  ) {
    return answer.error;
  }
  if (status === 401 || status === 403) return "This link does not allow that.";
  if (status === 404) return "The session was not found.";
  if (status === 429) return "Too many requests. Wait a moment, then try again.";
  return `The service answered with status ${status}.`;
}
