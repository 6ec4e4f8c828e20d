import { startScriptedModel } from "../../fixtures/scripted-model/start-scripted-model.ts";
import type { RecordedRequest, Step } from "../../fixtures/scripted-model/types.ts";
import type { Task } from "../play-turn.ts";

// The scripted model runs in its own process, so that it does not use the event loop of a measured process. The text of
// a turn determines how the model behaves in that turn.

/** A model call of a turn that has a tag. Times are in milliseconds since this process was started. */
export type LoggedCall = { tag: string; step: number; arrivedMs: number; answeredMs: number };
/**
 * The instructions and tools of a model call. This process records those of the service's first model call, so that the
 * programs with which the service is compared can send the same ones.
 */
export type Prompt = {
  instructions: string;
  tools: { name: string; description: string; parameters: object }[];
};

const toolCall: Step = { toolCalls: [{ name: "list_evidence", arguments: {} }] };
const question: Step = { toolCalls: [{ name: "elicit_user_input", arguments: { question: "Which one?" } }] };
const answers = new Map<string, { task: Task; answer: Step }>();
const logged: LoggedCall[] = [];
let prompt: Prompt | undefined;
const startedAt = performance.now();

const model = await startScriptedModel({ onRequest: record });
model.respondWith((request) => {
  const { task, answer } = readTask(request.userText);
  return request.answersSoFar < task.tools ? (task.asks ? question : toolCall) : answer;
});

function readTask(text: string) {
  const cached = answers.get(text);
  if (cached) return cached;
  // A turn with another text, which an earlier run may have left in the database, has no tool calls.
  const task = (text.startsWith("bench {") ? JSON.parse(text.slice(6)) : { tools: 0 }) as Task;
  const { chunks = 2, chunkDelayMs = 0 } = task;
  const textChunks = Array.from({ length: chunks }, (_, index) => `piece ${index} of the answer. `);
  const created = { task, answer: { textChunks, chunkDelayMs } };
  answers.set(text, created);
  return created;
}

/**
 * Is called when a model call arrives and when it has ended. Stores the prompt of the first call, and logs ended calls
 * that have a tag. Clears ended requests, because the scripted model keeps all requests in memory.
 */
function record(request: RecordedRequest) {
  if (request.outcome === "open") {
    prompt ??= readPrompt(request.body);
    // Removes the tools from the request. Like the real API, the scripted model would repeat them in three events of
    // every answer, which would take most of its CPU time here.
    request.body.tools = [];
    return;
  }
  const { tag } = readTask(request.userText).task;
  const answeredMs = performance.now() - startedAt;
  if (tag !== undefined)
    logged.push({ tag, step: request.answersSoFar + 1, arrivedMs: request.atMs, answeredMs });
  Object.assign(request, { body: {}, headers: {}, text: "", toolResults: [] });
}

function readPrompt(body: Record<string, unknown>): Prompt {
  const [first] = body.input as { role: string; content: string }[];
  return { instructions: first?.content ?? "", tools: body.tools as Prompt["tools"] };
}

process.on("message", (message: { type: "take" | "prompt" }) => {
  if (message.type === "take") process.send?.(logged.splice(0));
  else process.send?.(prompt ?? { instructions: "", tools: [] });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port: model.port });
