import { followUntil } from "#e2e/api/read-stream.ts";
import { OTHER_KEY, type RunningService, userMessage } from "#e2e/fixtures/service.ts";
import { VICTIM } from "./victim.ts";

type Turn = { streamUrl: string };

/** The measured owner: one session with a browser and a workspace, whose turns are timed. */
export type Victim = {
  /** Plays a turn. @returns its time in milliseconds, from the request to the end of its event stream. */
  playTurn: () => Promise<number>;
};

/**
 * Size of the body of each request, padded with spaces. Bodies of more than 256 KiB, such as messages with pictures,
 * share a budget of memory in the service.
 */
const BODY_BYTES = 300_000;

/** Creates the measured owner's session, and plays its first turn, which starts the browser. */
export async function createVictim(
  service: RunningService,
  pageUrl: string,
  turnMaxMs: number,
): Promise<Victim> {
  const headers = { authorization: `Bearer ${OTHER_KEY}` };
  async function time(
    path: string,
    body: unknown,
  ): Promise<{ ms: number; answer: Turn & { sessionId: string } }> {
    const startedAt = performance.now();
    const signal = AbortSignal.timeout(turnMaxMs);
    const response = await fetch(new URL(path, service.baseUrl), {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body).padEnd(BODY_BYTES),
      signal,
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    // The service's answer to a creation or a follow-up.
    const answer = (await response.json()) as Turn & { sessionId: string };
    const stream = await fetch(new URL(answer.streamUrl, service.baseUrl), { headers, signal });
    const events = await followUntil(stream, () => false);
    const end = events.findLast(({ data }) => data.kind === "run.completed");
    if (end?.data.outcome !== "succeeded")
      throw new Error(`a measured turn ended ${String(end?.data.outcome ?? "without an end")}`);
    return { ms: performance.now() - startedAt, answer };
  }
  const body = { messages: [userMessage(VICTIM)], targetUrl: pageUrl };
  const { answer } = await time("/api/session", body);
  const path = `/api/sessions/${answer.sessionId}/agent/messages`;
  return { playTurn: async () => (await time(path, { text: VICTIM })).ms };
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
