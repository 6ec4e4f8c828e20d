import { closeSync, openSync, writeSync } from "node:fs";
import { startScriptedModel } from "../../fixtures/scripted-model/start-scripted-model.ts";
import { readTag } from "../world/tag.ts";
import { createModelPlan } from "./answer-model.ts";
import { monotonicMs, type RecordedLine } from "./log-line.ts";
import { readPrompt } from "./read-prompt.ts";
import { startReceiver } from "./start-receiver.ts";
import { startTools } from "./start-tools.ts";
import { startTap } from "./tap.ts";

// node e2e/faults/recorder/main.ts <log.jsonl>
// The recorder serves the model, the callback receiver and the tools that the service uses. It runs in its own process,
// which no case kills. It prints its addresses on one line, logs every request before it answers, and ends when its
// standard input ends.
const [, , logPath = "recorder.jsonl"] = process.argv;
const log = openSync(logPath, "a");
const note = (line: RecordedLine) => void writeSync(log, `${JSON.stringify(line)}\n`);
const noteBytes = (line: Omit<Extract<RecordedLine, { type: "bytes" }>, "atMs">) =>
  note({ ...line, atMs: monotonicMs() });

const receiver = await startTap("receiver", await startReceiver(note), noteBytes);
const model = await startScriptedModel({
  onRequest({ index, outcome, kind, text, body, userText, answersSoFar, toolResults }) {
    const nonce = readTag(text)?.nonce ?? "";
    note({
      atMs: monotonicMs(),
      type: "model",
      index,
      outcome,
      kind,
      nonce,
      userText,
      answersSoFar,
      toolResults: toolResults.map((result) => result.slice(0, 300)),
      ...readPrompt(text, body.input),
    });
  },
});
model.respondWith(createModelPlan(`http://127.0.0.1:${receiver}`));
const tools = await startTools(note);
console.log(
  JSON.stringify({
    model: await startTap("model", model.port, noteBytes),
    receiver,
    tools: tools.origin,
    certificate: tools.certificate.cert,
  }),
);

process.stdin.resume();
process.stdin.once("close", () => {
  closeSync(log);
  process.exit(0);
});
