import { generateText, isStepCount } from "ai";
import { createModel } from "#lib/model/create-model.ts";
import type { ModelAccess } from "#lib/model/model-access.ts";
import { createCharacterCount, startCountingRelay } from "../count-characters.ts";
import type { TaskResult } from "../play-task.ts";
import type { Task } from "../task.ts";
import { startTaskSite } from "../task-site.ts";
import type { OpenPeer } from "./peer.ts";

const STEPS_MAX = 40;

/**
 * Plays tasks one after the other with a peer's tools and the given model, each with a browser of its own. The loop has
 * no more than the tools' results between two model calls.
 *
 * @param variables the environment variables that configure the model; they must name a server of the OpenAI API.
 */
export async function playWithPeer(
  tasks: readonly Task[],
  open: () => ReturnType<OpenPeer>,
  variables: Record<string, string>,
  { libraryPages, onResult }: { libraryPages: string; onResult: (result: TaskResult) => void },
): Promise<TaskResult[]> {
  const site = await startTaskSite(tasks, libraryPages);
  const count = createCharacterCount(tasks);
  const relay = await startCountingRelay(variables.OPENAI_BASE_URL ?? "https://api.openai.com/v1", count);
  const access = await createModel({
    openaiApiKey: variables.OPENAI_API_KEY,
    openaiBaseUrl: relay.url,
    agentModel: variables.AGENT_MODEL,
    api: variables.AGENT_MODEL_API === "chat" ? "chat" : "responses",
    demoOrigin: "",
  });
  const results: TaskResult[] = [];
  try {
    for (const task of tasks) {
      const played = await playTask(task, site.urlOf(task), open, access);
      const done = site.drainDone(task);
      const isSolved = task.isSolved({ done, answer: played.answer, value: null });
      const remark = isSolved ? null : JSON.stringify({ done, answer: played.answer.slice(0, 200) });
      const { answer: _, ...counts } = played;
      const result = { id: task.id, isSolved, remark, ...counts, ...count.of(task) };
      results.push(result);
      onResult(result);
    }
  } finally {
    relay.close();
    await site.close();
  }
  return results;
}

async function playTask(
  { ask }: Task,
  url: string,
  open: () => ReturnType<OpenPeer>,
  { model, providerOptions }: ModelAccess,
) {
  const peer = await open();
  const startedMs = performance.now();
  try {
    const { text, steps } = await generateText({
      model,
      providerOptions,
      instructions: peer.instructions,
      prompt: `${ask}\n\nThe page is ${url}`,
      tools: peer.tools,
      stopWhen: isStepCount(STEPS_MAX),
    });
    const results = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
    return {
      answer: text,
      modelCalls: steps.length,
      ...peer.countCalls(),
      charsRead: results.reduce<number>((sum, output) => sum + lengthOf(output), 0),
      seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    };
  } finally {
    await peer.close();
  }
}

/** The number of characters of a tool's result, without the bytes of pictures. */
function lengthOf(output: unknown): number {
  if (typeof output === "string") return output.length;
  const text = JSON.stringify(output, (key, value: unknown) => (key === "data" ? "" : value));
  return text.length;
}
