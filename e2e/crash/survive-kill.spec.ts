import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { Rule, ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { type HoldingServer, startHoldingServer } from "./holding-server.ts";
import { haveEnded, type LogEvent, readLog } from "./read-log.ts";

// The service is killed while each of its sessions is in a different phase of a turn. Then the service is started
// again, and each test checks one session.
test.describe.configure({ mode: "serial" });

let model: ScriptedModel;
let outside: HoldingServer;
let service: RunningService;
const sessions = new Map<string, CreatedSession>();

const shell = (command: string) => ({ name: "run_shell", arguments: { command } });

/**
 * With `hold: "once"`, the process that is killed never gets the end of an answer. The next process repeats the model
 * call and gets the whole answer.
 */
const rules = (fetched: string): Rule[] => [
  { when: "[stream]", steps: [{ text: "A long answer that streams. ".repeat(20), hold: "once" }] },
  {
    when: "[shell]",
    steps: [{ toolCalls: [shell("echo ran >> ran.txt; sleep 300")] }, { text: "I do not know." }],
  },
  {
    when: "[fetch]",
    steps: [{ toolCalls: [{ name: "fetch_url", arguments: { url: fetched } }] }, { text: "It answered." }],
  },
  {
    when: "[between]",
    steps: [
      { toolCalls: [shell("echo once >> once.txt")] },
      { text: "Once.", hold: "once", holdAt: "headers" },
    ],
  },
  { when: "[queue] second", steps: [{ text: "The second answer." }] },
  { when: "[queue] first", steps: [{ text: "The first answer.", hold: "once" }] },
  {
    when: "[structured]",
    steps: [{ text: "I have seen it." }],
  },
  { for: "structured", steps: [{ json: { title: "A shop" }, hold: "once" }] },
  { when: "[callback]", steps: [{ text: "Tell them." }] },
  { when: "[fresh]", steps: [{ text: "At once." }] },
];

test.beforeAll(async () => {
  outside = await startHoldingServer();
  model = await startScriptedModel({ script: { rules: rules(`${outside.url}/withheld/page`) } });
  let failures = 0;
  model.respondWith((request) => {
    if (!request.userText.includes("[retry]")) return undefined;
    return failures++ === 0 ? { status: 503, message: "overloaded" } : { text: "Better now." };
  });
  const settings = {
    OPENAI_BASE_URL: model.baseUrl,
    SANDBOX: "unconfined",
    AGENT_RETRY_BASE_MS: "4000",
    CALLBACK_RETRY_BASE_MS: "4000",
  };
  service = await startService(settings);

  const create = async (name: string, more: Record<string, unknown> = {}) =>
    sessions.set(name, await service.create(`[${name}] do it`, more));
  const callback = (path: string) => ({ callback: { url: `${outside.url}${path}`, secret: "s3cret" } });
  await create("stream");
  await create("shell");
  await create("fetch");
  await create("between");
  await create("structured", { outputSchema: titleSchema });
  sessions.set("queue", await service.create("[queue] first"));
  sessions.set("in flight", await service.create("[callback] a", callback("/withheld/hook")));
  sessions.set("between attempts", await service.create("[callback] b", callback("/refused/hook")));

  await Promise.all([
    waitUntil(() => hasFile("shell", "ran.txt"), "the command runs"),
    ...["[stream]", "[queue] first"].map((words) =>
      model.waitForRequest(({ userText }) => userText.includes(words)),
    ),
    model.waitForRequest(
      ({ userText, answersSoFar }) => userText.includes("[between]") && answersSoFar === 1,
    ),
    model.waitForRequest(({ kind }) => kind === "structured"),
    waitUntil(() => outside.at("/withheld/page").length === 1, "the page is fetched"),
    waitUntil(() => outside.at("/withheld/hook").length === 1, "the receiver has the callback"),
    waitUntil(() => outside.at("/refused/hook").length > 0, "the receiver has refused"),
  ]);
  const followUp = await service.call("POST", `${pathOf("queue")}/agent/messages`, {
    text: "[queue] second",
  });
  expect(await followUp.json()).toMatchObject({ success: true, queued: true });
  await create("retry");
  await waitUntil(async () => {
    const status = await service.read<{ lastRun: { outcome: string } | null }>(
      `${pathOf("retry")}/agent/status`,
    );
    return status.lastRun?.outcome === "errored";
  }, "the first run of the retried request has failed");
  await create("fresh");
  await service.kill();
  service = await startService(settings, { dataDir: service.dataDir, port: service.port });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
  await outside.close();
});

test("a model call that was killed in its stream is repeated, and its text appears once", async () => {
  const events = await readWhole("stream");
  const said = texts(events, "assistant");
  expect(said).toEqual(["A long answer that streams. ".repeat(20)]);
  expect(callsFor("[stream]")).toBe(2);
});

test("a command that was killed does not run again, and the model reads that its outcome is unknown", async () => {
  const events = await readWhole("shell");
  const results = events.filter(({ kind }) => kind === "tool.result");
  expect(results).toMatchObject([{ toolName: "run_shell", state: "unknown" }]);
  const request = model.requests.findLast(({ userText }) => userText.includes("[shell]"));
  expect(request?.toolResults).toEqual([expect.stringContaining("Outcome unknown")]);
  expect(await readWorkspace("shell", "ran.txt")).toBe("ran\n");
});

test("a read-only tool call that was killed runs again", async () => {
  const events = await readWhole("fetch");
  const results = events.filter(({ kind }) => kind === "tool.result");
  expect(results).toMatchObject([{ toolName: "fetch_url", state: "succeeded" }]);
  expect(outside.at("/withheld/page")).toHaveLength(2);
});

test("a tool whose result was recorded before the kill does not run again, and the turn uses the result", async () => {
  const events = await readWhole("between");
  const results = events.filter(({ kind }) => kind === "tool.result");
  expect(results).toMatchObject([{ toolName: "run_shell", state: "succeeded" }]);
  expect(await readWorkspace("between", "once.txt")).toBe("once\n");
  expect(texts(events, "assistant")).toEqual(["Once."]);
});

test("a turn is played after a kill that follows the 201 directly", async () => {
  const events = await readWhole("fresh");
  expect(texts(events, "assistant")).toEqual(["At once."]);
});

test("a running turn and a queued follow-up are both played after a kill, in order, with each message once", async () => {
  const events = await readWhole("queue", 2);
  const said = events.flatMap((event) => (event.kind === "message.completed" ? [textOf(event)] : []));
  expect(said).toEqual(["[queue] first", "The first answer.", "[queue] second", "The second answer."]);
  const { data } = await service.read<{ data: { parts: { text: string }[] }[] }>(
    `${pathOf("queue")}/messages`,
  );
  expect(data.map(({ parts }) => parts[0]?.text)).toEqual(said);
});

test("a structured call that was killed is repeated without a second probe", async () => {
  const events = await readWhole("structured");
  expect(events.find(({ kind }) => kind === "run.completed")).toMatchObject({
    outcome: "succeeded",
    deliverable: { status: "ready", value: { title: "A shop" } },
  });
  const kinds = model.requests.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "probe")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "structured")).toHaveLength(2);
});

test("a retry that waited during the kill plays as the second of two runs", async () => {
  const events = await readLog(service, idOf("retry"), haveEnded(1));
  const ends = events.filter(({ kind }) => kind === "run.completed");
  expect(ends).toMatchObject([{ outcome: "errored", willRetry: { attempt: 2 } }, { outcome: "succeeded" }]);
  expect(countByRun(events, "run.started")).toEqual([1, 1]);
});

test("a callback that was in flight during the kill is sent again with the same bytes and id", async () => {
  await readWhole("in flight");
  await waitUntil(() => outside.at("/withheld/hook").length >= 3, "both callbacks have arrived");
  const [first, ...later] = outside.at("/withheld/hook");
  const again = later.find(({ headers }) => headers["x-service-event"] === first?.headers["x-service-event"]);
  expect(again?.headers["x-service-delivery"]).toBe(first?.headers["x-service-delivery"]);
  expect(again?.headers["x-service-signature"]).toBe(first?.headers["x-service-signature"]);
  expect(again?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  await expectDelivered("in flight");
});

test("a callback between two attempts continues after the kill with its second attempt", async () => {
  await readWhole("between attempts");
  await expectDelivered("between attempts");
  const { data } = await readDeliveries("between attempts");
  expect(data.map(({ attempts }) => attempts.map(({ status }) => status)).sort()).toEqual([
    [200],
    [500, 200],
  ]);
});

test("every session is idle after the restart, and its log has one start and one end per run", async () => {
  for (const [name, { sessionId }] of sessions) {
    const events = await readLog(service, sessionId, haveEnded(name === "queue" ? 2 : 1));
    expect(new Set([...countByRun(events, "run.started"), ...countByRun(events, "run.completed")])).toEqual(
      new Set([1]),
    );
    const status = await service.read(`/api/sessions/${sessionId}/agent/status`);
    expect(status).toMatchObject({ turnState: "idle", queued: 0, activeRunId: null });
  }
});

const titleSchema = {
  type: "object",
  properties: { title: { type: "string" } },
  required: ["title"],
};

const idOf = (name: string) => sessions.get(name)?.sessionId ?? "";
const pathOf = (name: string) => `/api/sessions/${idOf(name)}`;

/**
 * Reads the log of a session until its requests have ended. Checks that each request had one run with one start and one
 * end.
 */
async function readWhole(name: string, requests = 1): Promise<LogEvent[]> {
  const events = await readLog(service, idOf(name), haveEnded(requests));
  expect(countByRun(events, "run.started")).toEqual(Array(requests).fill(1));
  expect(countByRun(events, "run.completed")).toEqual(Array(requests).fill(1));
  return events;
}

function countByRun(events: LogEvent[], kind: string): number[] {
  const runs = events.flatMap((event) => (event.kind === kind ? [event.runId] : []));
  return [...new Set(runs)].map((runId) => runs.filter((other) => other === runId).length);
}

type Message = { role: string; parts: { type: string; text?: string }[] };

const textOf = (event: LogEvent) => (event.message as Message).parts.map((part) => part.text ?? "").join("");

const texts = (events: LogEvent[], role: string) =>
  events
    .filter((event) => event.kind === "message.completed" && (event.message as Message).role === role)
    .map(textOf)
    .filter((text) => text !== "");

const callsFor = (words: string) => model.requests.filter(({ userText }) => userText.includes(words)).length;

const workspacePath = (name: string, file: string) => join(service.dataDir, "workspaces", idOf(name), file);

const readWorkspace = (name: string, file: string) => readFile(workspacePath(name, file), "utf8");

const hasFile = (name: string, file: string) =>
  readWorkspace(name, file).then(
    () => true,
    () => false,
  );

type Deliveries = { data: { state: string; attempts: { status: number | null }[] }[] };

const readDeliveries = (name: string) => service.read<Deliveries>(`${pathOf(name)}/deliveries`);

async function expectDelivered(name: string): Promise<void> {
  await waitUntil(async () => {
    const { data } = await readDeliveries(name);
    return data.length === 2 && data.every(({ state }) => state === "delivered");
  }, "both callbacks are delivered");
}
