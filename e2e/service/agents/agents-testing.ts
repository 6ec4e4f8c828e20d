import assert from "node:assert/strict";
import { asc, eq } from "drizzle-orm";
import { agents } from "#db/schema/index.ts";
import type { Step, StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import type { TestService } from "../testing.ts";

/** A sub-agent as a spawn call asks for it. */
type Wanted = { name?: string; objective: string } & Record<string, unknown>;

export const spawn = (...wanted: Wanted[]): StepToolCall => ({
  name: "spawn_agents",
  arguments: { agents: wanted },
});
export const wait = (input: Record<string, unknown> = {}): StepToolCall => ({
  name: "wait_for_agents",
  arguments: input,
});
export const submit = (result: unknown): StepToolCall => ({ name: "submit_result", arguments: { result } });

/** Scripts the model: each text that a user message holds has its own steps; the last one that matches counts. */
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

/** The text of the last result of a tool that the model of a session was shown. */
export function readResult(service: TestService, marker: string, number: number): string {
  const request = service.model.requests.findLast(
    ({ userText, toolResults }) => userText.includes(marker) && toolResults.length > number,
  );
  assert.ok(request, `no model call of ${marker} with ${number + 1} results`);
  return request.toolResults[number] ?? "";
}

/** The names of the tools that the model was offered in the last call of a task. */
export function readOffered(service: TestService, marker: string): string[] {
  const request = service.model.requests.findLast(({ userText }) => userText.includes(marker));
  const tools = (request?.body.tools ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}
