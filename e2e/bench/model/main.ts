import { startScriptedModel } from "../../fixtures/scripted-model/start-scripted-model.ts";
import type { RecordedRequest, Step } from "../../fixtures/scripted-model/types.ts";
import type { Task } from "../play-turn.ts";

// The scripted model as a process of its own, so that its time is nobody's event loop. The text of a turn is its script.

/** One model call of a tagged turn, in milliseconds since this process began to serve. */
export type LoggedCall = { tag: string; step: number; arrivedMs: number; answeredMs: number };
/** What the first call after a `prompt` message held, for a baseline that is to send the same. */
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

const model = await startScriptedModel({ onRequest: keep });
model.respondWith((request) => {
  const { task, answer } = readTask(request.userText);
  return request.answersSoFar < task.tools ? (task.asks ? question : toolCall) : answer;
});

function readTask(text: string) {
  const known = answers.get(text);
  if (known) return known;
  // Another text, such as one that an earlier run left in the database, is a turn without tools.
  const task = (text.startsWith("bench {") ? JSON.parse(text.slice(6)) : { tools: 0 }) as Task;
  const { chunks = 2, chunkDelayMs = 0 } = task;
  const textChunks = Array.from({ length: chunks }, (_, index) => `piece ${index} of the answer. `);
  const made = { task, answer: { textChunks, chunkDelayMs } };
  answers.set(text, made);
  return made;
}

/** Logs a call when it has ended, and lets go of its body: the recorder of the tests would keep them all. */
function keep(request: RecordedRequest) {
  if (request.outcome === "open") {
    prompt ??= readPrompt(request.body);
    // The real API repeats the tools in three events of every answer; here it would be most of the model's own time.
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
