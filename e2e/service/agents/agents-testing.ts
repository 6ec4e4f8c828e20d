import assert from "node:assert/strict";
import { asc, eq } from "drizzle-orm";
import { agents } from "#db/schema/index.ts";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import type { Step, StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import type { TestService } from "../testing.ts";

/** The description of a sub-agent in the arguments of a `spawn_agents` call. */
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

/**
 * Scripts the model. `tasks` maps a text in the user message to the steps of the turn. If several texts match, the last
 * one counts.
 */
export function scriptByTask(service: TestService, tasks: Record<string, Step[]>): void {
  service.model.respondWith(({ userText, answersSoFar }) => {
    const steps = Object.entries(tasks).findLast(([task]) => userText.includes(task))?.[1];
    return steps?.[answersSoFar] ?? { text: "Done." };
  });
}

/** Reads the sub-agents below a root session, in the order in which they were spawned. */
export const readAgents = (service: TestService, rootSessionId: string) =>
  service.container.services.db
    .select()
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId))
    .orderBy(asc(agents.createdAt), asc(agents.spawnIndex));

/** Returns the result of tool call `number` (from 0) in the turn whose message contains `marker`. */
export function readResult(service: TestService, marker: string, number: number): string {
  const request = service.model.requests.findLast(
    ({ userText, toolResults }) => userText.includes(marker) && toolResults.length > number,
  );
  assert.ok(request, `no model call of ${marker} with ${number + 1} results`);
  return request.toolResults[number] ?? "";
}

/** Returns the names of the tools that were offered in the last model call whose user message contains `marker`. */
export function readOffered(service: TestService, marker: string): string[] {
  const request = service.model.requests.findLast(({ userText }) => userText.includes(marker));
  return readOfferedTools(request);
}
