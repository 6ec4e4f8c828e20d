import { callJson, followStream } from "./http.ts";
import type { Subject } from "./types.ts";

/** What the scripted model is to do in a turn; it travels as the turn's text. */
export type Task = {
  /** Cheap tool calls, one a step, before the answer. */
  tools: number;
  /** The calls ask a person, so that the turn waits. */
  asks?: true;
  /** Pieces of the answer, and the wait before each. */
  chunks?: number;
  chunkDelayMs?: number;
  /** The bare loop makes a call of the SDK for every step, instead of leaving the loop to it. */
  byHand?: true;
  /** Names the turn in the model's log. */
  tag?: string;
};

/** Milliseconds from the request that starts the turn. */
export type TurnTimes = { createdMs: number; firstEventMs: number; completedMs: number };

type StartedTurn = { streamUrl: string; statusUrl: string; sessionId: string; shareUrl: string };

export const textOf = (task: Task): string => `bench ${JSON.stringify(task)}`;

/** Starts a turn; resolves when the server has answered. */
export async function startTurn(subject: Subject, task: Task): Promise<StartedTurn> {
  const url = subject.baseUrl + subject.createPath;
  return (await callJson("POST", url, subject.headers, subject.bodyOf(textOf(task)))) as StartedTurn;
}

/** Plays a turn as a program does: starts it, then follows its stream to the last event. */
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

/** Plays turns at a constant number in flight for a time. @returns finished turns a second. */
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

/** Plays a number of turns, so many at a time. */
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
