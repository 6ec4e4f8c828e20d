import type { RecordedRequest, Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { Task } from "./task.ts";

/**
 * Creates the ideal solver, a scripted model that solves every task. It calls the tools that the task's `solve` lists,
 * and then gives the task's `answer`.
 */
export function createIdealSolver(tasks: readonly Task[]): (request: RecordedRequest) => Step | undefined {
  return ({ kind, text, answersSoFar, toolResults }) => {
    if (kind === "probe") return { json: {} };
    const task = tasks.find(({ id }) => text.includes(`/${id}/`));
    if (!task) return undefined;
    if (kind === "structured") return { json: task.value };
    const next = task.solve[answersSoFar];
    const step = typeof next === "function" ? next(toolResults) : next;
    if (step === undefined)
      return {
        text: typeof task.answer === "function" ? task.answer(toolResults) : (task.answer ?? "Done."),
      };
    const call = typeof step === "string" ? { name: "browser_execute", arguments: { script: step } } : step;
    return { toolCalls: [call] };
  };
}
