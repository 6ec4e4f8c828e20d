import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { ScriptedTool } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
after(() => bench.close());

const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
const form = (message: string, properties: object = { name: { type: "string" } }) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties } },
});
const ask = (inputRequests: object, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState && { requestState }),
});

/** A tool that asks twice, and then answers what it got. Its state is in `requestState` only. */
const wizard: ScriptedTool = {
  name: "wizard",
  answer: ({ params }) => {
    const { inputResponses, requestState } = params;
    if (requestState === undefined) return ask({ who: form("Who?") }, "1");
    if (requestState === "1")
      return ask({ when: form("When?"), sure: form("Sure?", {}) }, `2 ${JSON.stringify(inputResponses)}`);
    return text([requestState, inputResponses]);
  },
};

async function openWith(tools: ScriptedTool[], options: Parameters<typeof bench.open>[1] = {}) {
  const server = await bench.startServer({ tools, speaks: "stateless" });
  return { server, ...bench.open({ crm: server.url }, { mayAskPeople: true, ...options }) };
}

const first = '2 {"who":{"action":"accept","content":{"name":"Ada"}}}';

it("a call that needs a person is made again with the answers, until the server answers", async () => {
  const { call, questions, server } = await openWith([wizard], {
    answerParked: ({ form }) => ({ state: "answered", answer: form ? { name: "Ada" } : "yes" }),
  });
  assert.deepEqual(await call("wizard"), {
    isError: false,
    parts: text([
      first,
      { when: { action: "accept", content: { name: "Ada" } }, sure: { action: "accept", content: {} } },
    ]).content,
  });
  assert.deepEqual(
    questions.map(({ callId, question, options }) => [callId, question, options]),
    [
      ["call_t", "The tool server crm asks: Who?", null],
      ["call_t/2", "The tool server crm asks: When?", null],
      ["call_t/3", "The tool server crm asks: Sure?", ["yes", "no"]],
    ],
  );
  const calls = server.messages("tools/call");
  assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
});

it("it waits for open questions, and continues with what the server needs for that, even in another process", async () => {
  const answers = new Map<string, string>();
  const { callOrWait, server } = await openWith([wizard], {
    answerParked: ({ callId }) => {
      const name = answers.get(callId);
      return name === undefined
        ? undefined
        : { state: "answered", answer: callId === "call_t/3" ? name : { name } };
    },
  });
  const waits = async (mayHaveAsked: boolean) => {
    const answer = await callOrWait("wizard", { mayHaveAsked });
    return "waitsFor" in answer ? answer.waitsFor : answer;
  };
  assert.deepEqual(await waits(false), ["eli_call_t"]);
  // The call has not been sent again while the question is open.
  assert.deepEqual(await waits(true), ["eli_call_t"]);
  assert.equal(server.messages("tools/call").length, 1);
  answers.set("call_t", "Ada");
  assert.deepEqual(await waits(true), ["eli_call_t/2", "eli_call_t/3"]);
  answers.set("call_t/3", "no");
  assert.deepEqual(await waits(true), ["eli_call_t/2"]);
  answers.set("call_t/2", "now");
  const { content } = text([
    first,
    { when: { action: "accept", content: { name: "now" } }, sure: { action: "decline" } },
  ]);
  assert.deepEqual(await waits(true), { isError: false, parts: content });
  assert.equal(server.messages("tools/call").length, 3);
});

it("questions that end without an answer are cancelled, and declined ones declined", async () => {
  const { callOrWait } = await openWith([wizard]);
  await callOrWait("wizard");
  const ended = await callOrWait("wizard", { mayHaveAsked: true, waitEndedBy: "deadline" });
  assert.ok("waitsFor" in ended);
  const declined = await openWith([wizard], { answerParked: () => ({ state: "declined" }) });
  const { parts } = await declined.call("wizard");
  assert.match(JSON.stringify(parts), /who.{9,40}decline/);
});

it("where no person can be asked, every form is declined at once, and the answer says so", async () => {
  const { call, questions } = await openWith([wizard], { mayAskPeople: false });
  const { isDeclined, parts } = await call("wizard");
  assert.deepEqual([isDeclined, questions], [true, []]);
  assert.match(JSON.stringify(parts), /when.{9,20}decline/);
});

it("forms that the page cannot show are declined; what the client does not offer is a failure", async () => {
  const odd = {
    url: { ...form("a"), params: { ...form("a").params, mode: "url" } },
    nested: form("b", { a: { type: "object" } }),
  };
  const tool = (name: string, requests: object): ScriptedTool => ({
    name,
    answer: ({ params }) => (params.inputResponses ? text(params.inputResponses) : ask(requests, "s")),
  });
  const endless: ScriptedTool = { name: "endless", answer: () => ask({}, "again") };
  const huge = tool("huge", { a: form("x".repeat(300_000)) });
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`q${index}`, form("?")]));
  const { call, questions } = await openWith(
    [
      tool("odd", odd),
      tool("sampling", { a: { method: "sampling/createMessage", params: {} } }),
      tool("roots", { a: { method: "roots/list" } }),
      tool("many", many),
      { name: "task", answer: () => ({ resultType: "task", task: {} }) },
      endless,
      huge,
    ],
    { answerParked: () => ({ state: "answered", answer: { name: "a" } }) },
  );
  assert.deepEqual(
    (await call("odd")).parts,
    text({ url: { action: "decline" }, nested: { action: "decline" } }).content,
  );
  for (const name of ["sampling", "roots"])
    await assert.rejects(call(name), {
      message: "the server asks for something that this client does not offer",
    });
  await assert.rejects(call("task"), { message: "the server's answer is of a kind that is not known here" });
  await assert.rejects(call("endless"), { message: "the server asked 32 times and did not answer" });
  await assert.rejects(call("huge"), { message: "the server asks for more than can be stored" });
  assert.deepEqual(questions, []);
  await call("many");
  assert.equal(questions.length, 24);
});

it("secrets of the server's headers are not shown in its questions", async () => {
  const { call, questions } = await openWith(
    [
      {
        name: "leak",
        answer: ({ params }) => (params.inputResponses ? text(1) : ask({ a: form("canary-of-crm?") })),
      },
    ],
    {
      headers: { crm: { authorization: "Bearer canary-of-crm" } },
      answerParked: () => ({ state: "declined" }),
    },
  );
  await call("leak");
  assert.equal(questions[0]?.question, "The tool server crm asks: [redacted]?");
});
