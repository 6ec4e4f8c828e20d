import { callJson, followStream } from "./http.ts";
import type { Subject } from "./subject.ts";

/** What the scripted model does in a turn. The task is sent as the text of the turn. */
export type Task = {
  /** Number of cheap tool calls before the answer. Each step makes one tool call. */
  tools: number;
  /** If true, each tool call asks a person a question, and the turn waits for the answer. */
  asks?: true;
  /** Number of chunks of the answer. Default: 2. */
  chunks?: number;
  /** Delay before each chunk of the answer. Default: 0. */
  chunkDelayMs?: number;
  /** If true, the bare loop (`bare/main.ts`) calls the SDK once for each step, not once for all steps. */
  byHand?: true;
  /** Identifies the turn in the model's log. */
  tag?: string;
};

/** Times of a turn, in milliseconds since the request that starts it was sent. */
export type TurnTimes = { createdMs: number; firstEventMs: number; completedMs: number };

type StartedTurn = { streamUrl: string; statusUrl: string; sessionId: string; shareUrl: string };

export const textOf = (task: Task): string => `bench ${JSON.stringify(task)}`;

/** Starts a turn. Resolves when the server has answered the request. */
export async function startTurn(subject: Subject, task: Task): Promise<StartedTurn> {
  const url = subject.baseUrl + subject.createPath;
  return (await callJson("POST", url, subject.headers, subject.bodyOf(textOf(task)))) as StartedTurn;
}

/** Plays a turn as a client: starts the turn, and follows its stream to the last event. */
export async function playTurn(subject: Subject, task: Task): Promise<TurnTimes> {
  const startedAt = performance.now();
  const { streamUrl } = await startTurn(subject, task);
  const createdMs = performance.now() - startedAt;
  let firstEventMs = 0;
  let completedMs = 0;
  let tail = "";
  await followStream(subject.baseUrl + streamUrl, subject.headers, (text, atMs) => {
    const seen = tail + text;
    if (firstEventMs === 0 && seen.includes("event: ")) firstEventMs = atMs - startedAt;
    if (seen.includes("event: run.completed")) completedMs = atMs - startedAt;
    tail = seen.slice(-40);
  });
  if (completedMs === 0) throw new Error(`a turn of the ${subject.name} ended without run.completed`);
  return { createdMs, firstEventMs, completedMs };
}

/** Plays turns for `forMs` milliseconds, `inFlight` at a time. @returns the number of finished turns per second. */
export async function playInFlight(
  subject: Subject,
  task: Task,
  options: { inFlight: number; forMs: number },
): Promise<number> {
  const startedAt = performance.now();
  let finished = 0;
  const work = async () => {
    while (performance.now() - startedAt < options.forMs) {
      await playTurn(subject, task);
      finished += 1;
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, work));
  return (finished * 1000) / (performance.now() - startedAt);
}

/** Plays `count` turns, `inFlight` at a time. */
export async function playTurns(
  subject: Subject,
  task: Task,
  count: number,
  inFlight: number,
): Promise<void> {
  let left = count;
  const work = async () => {
    while (left-- > 0) await playTurn(subject, task);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}
