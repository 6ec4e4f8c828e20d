import { type CharacterCount, createCharacterCount, startCountingRelay } from "./count-characters.ts";
import { openEvalService, openFunctions } from "./eval-service.ts";
import { createIdealSolver } from "./ideal-solver.ts";
import { buildLibraryPages } from "./libraries/build-pages.ts";
import { playTask, type TaskResult } from "./play-task.ts";
import type { Task } from "./task.ts";
import { startTaskSite } from "./task-site.ts";

/**
 * The player of the tasks: the ideal solver, or the model that `variables` configures. If `variables` is empty, the
 * demo model plays.
 */
type Player = { kind: "ideal" } | { kind: "model"; variables: Record<string, string> };

/** Counts the calls of an OpenAI-compatible server. Undefined if the player uses none. */
const relayModel = async (variables: Record<string, string>, count: CharacterCount) =>
  variables.OPENAI_BASE_URL || variables.OPENAI_API_KEY
    ? startCountingRelay(variables.OPENAI_BASE_URL ?? "https://api.openai.com/v1", count)
    : undefined;

/** The environment variables that configure the service's model. */
export const MODEL_VARIABLES = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "AI_GATEWAY_API_KEY",
  "AGENT_MODEL",
  "AGENT_MODEL_API",
  "AGENT_CONTEXT_TOKENS",
] as const;

type EvaluateOptions = {
  atOnce?: number;
  onFunctions?: boolean;
  onResult?: (result: TaskResult) => void;
  log?: (text: string) => void;
};

/**
 * Builds the pages of libraries, if a task has one, starts a service and plays tasks on it, up to `atOnce` at the same time.
 * @param options.onFunctions Whether the service runs as on Vercel: only Next, with the browsers in Vercel Sandboxes.
 * @param options.onResult Called after each task.
 * @param options.log Called with the progress of builds.
 * @returns the results in the order of the tasks.
 */
export async function evaluate(
  tasks: readonly Task[],
  player: Player,
  { atOnce = 2, onFunctions = false, onResult = () => {}, log = () => {} }: EvaluateOptions = {},
): Promise<TaskResult[]> {
  const hasLibrary = tasks.some(({ library }) => library !== undefined);
  const site = await startTaskSite(tasks, hasLibrary ? await buildLibraryPages(log) : undefined);
  const count = createCharacterCount(tasks);
  const relay = player.kind === "model" ? await relayModel(player.variables, count) : undefined;
  const service = await (onFunctions ? openFunctions : openEvalService)({
    NETWORK_ALLOW: "127.0.0.1,localhost",
    ...(player.kind === "model" && {
      // Clears the variables that `openTestService` sets for the scripted model, so that only the player's variables
      // apply.
      ...Object.fromEntries(MODEL_VARIABLES.map((name) => [name, ""])),
      ...player.variables,
      ...(relay && { OPENAI_BASE_URL: relay.url }),
    }),
  });
  if (player.kind === "ideal") {
    const solve = createIdealSolver(tasks);
    service.model.respondWith((request) => {
      count.add(request.body);
      return solve(request);
    });
  }
  const results = new Map<Task, TaskResult>();
  const queue = [...tasks];
  const playTasks = async (): Promise<void> => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      const result = { ...(await playTask(service, site, task)), ...count.of(task) };
      results.set(task, result);
      onResult(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, playTasks));
  } finally {
    await service.close();
    relay?.close();
    await site.close();
  }
  return tasks.flatMap((task) => results.get(task) ?? []);
}
