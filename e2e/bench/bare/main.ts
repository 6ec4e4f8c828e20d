import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, type ModelMessage, streamText, type ToolSet } from "ai";
import type { Prompt } from "../model/main.ts";
import { readTools } from "./read-tools.ts";

// The bare loop, a minimal baseline: a loop of the AI SDK in a plain HTTP server. It keeps its events in memory and
// streams them as server-sent events. It uses the same model, instructions and tools as the service. Nothing survives
// the process.

type Turn = { events: Buffer[]; followers: Set<ServerResponse>; isOver: boolean };

const turns = new Map<string, Turn>();
const openai = createOpenAI({ apiKey: "no-key", baseURL: process.env.BENCH_MODEL_URL ?? "" });
const model = openai.responses("scripted");
let instructions = "";
let tools: ToolSet = {};

function emit(turn: Turn, kind: string, fields: object) {
  const data = JSON.stringify({ kind, timestamp: new Date().toISOString(), ...fields });
  const bytes = Buffer.from(`id: ${turn.events.length + 1}\nevent: ${kind}\ndata: ${data}\n\n`);
  turn.events.push(bytes);
  for (const follower of turn.followers) follower.write(bytes);
}

/** Plays a turn with a single call of the SDK, in which the SDK loops over the steps. */
async function play(turn: Turn, text: string) {
  emit(turn, "run.started", {});
  const result = streamText({
    model,
    instructions,
    tools,
    maxRetries: 0,
    stopWhen: isStepCount(2_000),
    messages: [{ role: "user", content: text }],
    providerOptions: { openai: { store: false } },
  });
  let answer = "";
  for await (const part of result.stream) {
    if (part.type === "text-delta") {
      answer += part.text;
      emit(turn, "message.delta", { text: part.text });
    } else if (part.type === "tool-call") emit(turn, "tool.call", { id: part.toolCallId, input: part.input });
    else if (part.type === "tool-result")
      emit(turn, "tool.result", { id: part.toolCallId, output: part.output });
    else if (part.type === "error") throw part.error;
  }
  emit(turn, "message.completed", { text: answer });
  finish(turn, await result.totalUsage);
}

/**
 * Plays a turn with one call of the SDK for each step, as the service does. The SDK's own loop would get slower with
 * every step, because it keeps all steps.
 */
async function playByHand(turn: Turn, text: string) {
  emit(turn, "run.started", {});
  const messages: ModelMessage[] = [{ role: "user", content: text }];
  let hasCalls = true;
  while (hasCalls) {
    const result = streamText({
      model,
      instructions,
      tools,
      maxRetries: 0,
      messages,
      providerOptions: { openai: { store: false } },
    });
    hasCalls = false;
    for await (const part of result.stream) {
      if (part.type === "text-delta") emit(turn, "message.delta", { text: part.text });
      else if (part.type === "tool-result") {
        hasCalls = true;
        emit(turn, "tool.result", { id: part.toolCallId, output: part.output });
      } else if (part.type === "error") throw part.error;
    }
    messages.push(...(await result.responseMessages));
  }
  finish(turn, {});
}

function finish(turn: Turn, usage: object) {
  emit(turn, "run.completed", { usage });
  turn.isOver = true;
  for (const follower of turn.followers) follower.end();
}

const server = createServer(async (request, response) => {
  const [, , id, isStream] = (request.url ?? "").split("/");
  if (request.method === "POST") {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const turnId = randomUUID();
    const turn: Turn = { events: [], followers: new Set(), isOver: false };
    turns.set(turnId, turn);
    const { text } = JSON.parse(body) as { text: string };
    void (text.includes('"byHand":true') ? playByHand : play)(turn, text);
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ streamUrl: `/turns/${turnId}/stream`, statusUrl: `/turns/${turnId}` }));
    return;
  }
  const turn = turns.get(id ?? "");
  if (!turn || !isStream) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const event of turn.events) response.write(event);
  if (turn.isOver) response.end();
  else turn.followers.add(response);
});

process.on("message", (message: Prompt | "memory") => {
  if (message === "memory") {
    const collect = (globalThis as { gc?: () => void }).gc;
    collect?.();
    collect?.();
    process.send?.(process.memoryUsage());
    return;
  }
  const prompt = message;
  instructions = prompt.instructions;
  tools = readTools(prompt);
  process.send?.({ tools: prompt.tools.length });
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
