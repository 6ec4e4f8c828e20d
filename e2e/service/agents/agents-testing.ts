import assert from "node:assert/strict";
import { asc, eq } from "drizzle-orm";
import { agents } from "#db/schema/index.ts";
import type { Step, StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import type { TestService } from "../testing.ts";

/** A sub-agent in the arguments of a spawn call. */
type Spawned = { name?: string; objective: string } & Record<string, unknown>;

export const spawn = (...spawned: Spawned[]): StepToolCall => ({
  name: "spawn_agents",
  arguments: { agents: spawned },
});
export const wait = (input: Record<string, unknown> = {}): StepToolCall => ({
  name: "wait_for_agents",
  arguments: input,
});
export const submit = (result: unknown): StepToolCall => ({ name: "submit_result", arguments: { result } });

/** Scripts the model: the last entry whose key is in the user message gives the steps of the turn. */
export function scriptByTask(service: TestService, tasks: Record<string, Step[]>): void {
  service.model.respondWith(({ userText, answersSoFar }) => {
    const steps = Object.entries(tasks).findLast(([task]) => userText.includes(task))?.[1];
    return steps?.[answersSoFar] ?? { text: "Done." };
  });
}

/** The sub-agents below a root, in the order in which they were spawned. */
export const readAgents = (service: TestService, rootSessionId: string) =>
  service.container.services.db
    .select()
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId))
    .orderBy(asc(agents.createdAt), asc(agents.spawnIndex));

/** The result of the tool call with this number (from 0) in the turn whose message contains `marker`. */
export function readResult(service: TestService, marker: string, number: number): string {
  const request = service.model.requests.findLast(
    ({ userText, toolResults }) => userText.includes(marker) && toolResults.length > number,
  );
  assert.ok(request, `no model call of ${marker} with ${number + 1} results`);
  return request.toolResults[number] ?? "";
}

/** The names of the tools that the last model call of a task offered. */
export function readOffered(service: TestService, marker: string): string[] {
  const request = service.model.requests.findLast(({ userText }) => userText.includes(marker));
  const tools = (request?.body.tools ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}
