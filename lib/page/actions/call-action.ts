/**
 * The outcome of a person's action: the response of the service, or a sentence that explains the failure. `status` is
 * the HTTP status of the failure; 0 if no readable response arrived.
 */
export type ActionOutcome<Answer> =
  | { isDone: true; answer: Answer }
  | { isDone: false; status: number; error: string };

const TIMEOUT_MS = 30_000;

type CallOptions<Answer> = {
  timeoutMs?: number;
  headers?: Record<string, string>;
  /** Reads the answer from the response. By default, the answer is the JSON of the body. */
  read?: (response: Response) => Promise<Answer>;
};

/** Calls a route of the page's own origin. Never throws: every failure becomes a sentence for the person. */
export async function callAction<Answer>(
  fetcher: typeof fetch,
  method: string,
  path: string,
  body?: unknown,
  { timeoutMs = TIMEOUT_MS, headers, read }: CallOptions<Answer> = {},
): Promise<ActionOutcome<Answer>> {
  const init: RequestInit = { method, credentials: "same-origin", signal: AbortSignal.timeout(timeoutMs) };
  if (headers) init.headers = headers;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...headers, "content-type": "application/json" };
  }
  try {
    const response = await fetcher(path, init);
    if (response.ok) {
      if (read) return { isDone: true, answer: await read(response) };
      // The cast is safe, because the service sends what its contract says. The `catch` below handles a body that is
      // incomplete or not JSON.
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

/** Reduces the answer of a successful outcome to one of its fields. A failed outcome does not change. */
export const pick = <Name extends string, Value>(
  outcome: ActionOutcome<{ [Key in Name]: Value }>,
  name: Name,
): ActionOutcome<Value> => (outcome.isDone ? { isDone: true, answer: outcome.answer[name] } : outcome);

/** Returns the sentence of a refusal, or one for its status. */
export function sentenceOf(answer: unknown, status: number): string {
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
