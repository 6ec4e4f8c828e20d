import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, type ModelMessage, streamText, type ToolSet } from "ai";
import { z } from "zod";
import type { Prompt } from "../model/main.ts";
import { readTools } from "./read-tools.ts";

// A baseline: an agent server without durability, as many teams write it. It has API keys, validated bodies, sessions,
// an event log per session, a stream that can be resumed, and a status to poll. One process keeps everything in memory.

const createSchema = z.object({
  messages: z
    .array(
      z.object({
        role: z.literal("user"),
        parts: z.array(z.object({ type: z.literal("text"), text: z.string() })),
      }),
    )
    .min(1),
});

type Session = {
  id: string;
  status: "running" | "completed" | "failed";
  messages: ModelMessage[];
  events: { id: number; kind: string; data: string }[];
  followers: Set<ServerResponse>;
};

const sessions = new Map<string, Session>();
const keyHash = createHash("sha256")
  .update(process.env.BENCH_KEY ?? "")
  .digest();
const openai = createOpenAI({ apiKey: "no-key", baseURL: process.env.BENCH_MODEL_URL ?? "" });
let instructions = "";
let tools: ToolSet = {};

function emit(session: Session, kind: string, fields: object) {
  const id = session.events.length + 1;
  const data = JSON.stringify({
    kind,
    seq: id,
    timestamp: new Date().toISOString(),
    sessionId: session.id,
    ...fields,
  });
  session.events.push({ id, kind, data });
  for (const follower of session.followers) writeEvent(follower, { id, kind, data });
}

const writeEvent = (follower: ServerResponse, { id, kind, data }: Session["events"][number]) =>
  follower.write(`id: ${id}\nevent: ${kind}\ndata: ${data}\n\n`);

async function play(session: Session) {
  emit(session, "run.started", {});
  const result = streamText({
    model: openai.responses("scripted"),
    instructions,
    tools,
    maxRetries: 0,
    stopWhen: isStepCount(2_000),
    messages: session.messages,
    providerOptions: { openai: { store: false } },
  });
  for await (const part of result.stream) {
    if (part.type === "text-delta") emit(session, "message.delta", { text: part.text });
    else if (part.type === "tool-call")
      emit(session, "tool.call", { id: part.toolCallId, input: part.input });
    else if (part.type === "tool-result")
      emit(session, "tool.result", { id: part.toolCallId, output: part.output });
    else if (part.type === "error") throw part.error;
  }
  session.messages.push(...(await result.responseMessages));
  return result.totalUsage;
}

async function run(session: Session) {
  try {
    const usage = await play(session);
    session.status = "completed";
    emit(session, "run.completed", { outcome: "succeeded", usage });
  } catch (error) {
    session.status = "failed";
    emit(session, "run.completed", { outcome: "errored", error: String(error) });
  }
  for (const follower of session.followers) follower.end();
  session.followers.clear();
}

function answer(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function isAuthorized(request: IncomingMessage): boolean {
  const [, key = ""] = (request.headers.authorization ?? "").split(" ");
  return timingSafeEqual(createHash("sha256").update(key).digest(), keyHash);
}

async function create(request: IncomingMessage, response: ServerResponse) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const parsed = createSchema.safeParse(JSON.parse(body));
  if (!parsed.success) return answer(response, 400, { error: z.treeifyError(parsed.error) });
  const id = randomUUID();
  const messages = parsed.data.messages.map(({ parts }) => ({
    role: "user" as const,
    content: parts.map(({ text }) => text).join("\n"),
  }));
  const session: Session = { id, status: "running", messages, events: [], followers: new Set() };
  sessions.set(id, session);
  void run(session);
  answer(response, 201, { sessionId: id, statusUrl: `/sessions/${id}`, streamUrl: `/sessions/${id}/stream` });
}

function stream(session: Session, request: IncomingMessage, response: ServerResponse) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  const after = Number(request.headers["last-event-id"] ?? 0);
  for (const event of session.events.slice(after)) writeEvent(response, event);
  if (session.status !== "running") return response.end();
  session.followers.add(response);
  response.once("close", () => session.followers.delete(response));
}

const server = createServer((request, response) => {
  const [, , id, part] = (request.url ?? "").split("/");
  if (!isAuthorized(request)) return answer(response, 401, { error: "unauthorized" });
  if (request.method === "POST") return create(request, response);
  const session = sessions.get(id ?? "");
  if (!session) return answer(response, 404, { error: "not found" });
  if (part === "stream") return stream(session, request, response);
  answer(response, 200, {
    sessionId: session.id,
    status: session.status,
    lastEventId: session.events.length,
  });
});

process.on("message", (prompt: Prompt) => {
  instructions = prompt.instructions;
  tools = readTools(prompt);
  process.send?.({ tools: prompt.tools.length });
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
