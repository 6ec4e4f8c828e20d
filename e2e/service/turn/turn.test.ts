import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { DomainEvent } from "#lib/events/event.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { readEvents } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

const kinds = (events: DomainEvent[]) => events.map((event) => event.kind);

describe("a turn", () => {
  it("plays the first message, and its request is completed", async () => {
    service.model.enqueue({ text: "Hello to you." });
    const session = await service.create("Say hello");
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(kinds(events), [
      "run.started",
      "message.completed",
      "message.completed",
      "run.completed",
    ]);
    assert.deepEqual(
      events.map((event) => event.seq),
      [1, 2, 3, 4],
    );
    const end = events.at(-1);
    assert.equal(end?.kind === "run.completed" && end.outcome, "succeeded");
    const { data } = await service.read<{ data: { role: string; parts: unknown }[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    assert.deepEqual(
      data.map(({ role, parts }) => ({ role, parts })),
      [
        { role: "user", parts: [{ type: "text", text: "Say hello" }] },
        { role: "assistant", parts: [{ type: "text", text: "Hello to you." }] },
      ],
    );
  });

  it("runs the tools the model calls, and shows it their results", async () => {
    service.model.enqueue(
      {
        text: "Let me write.",
        toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "alpha" } }],
      },
      { toolCalls: [{ name: "read_file", arguments: { path: "a.txt" } }] },
      { text: "It says alpha." },
    );
    const session = await service.create("Write and read a file");
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(kinds(events), [
      "run.started",
      "message.completed",
      "message.completed",
      "tool.call",
      "tool.result",
      "message.completed",
      "tool.call",
      "tool.result",
      "message.completed",
      "run.completed",
    ]);
    const last = service.model.requests.at(-1);
    assert.match(last?.toolResults.at(-1) ?? "", /alpha/);
    const end = events.at(-1);
    assert.deepEqual(end?.kind === "run.completed" && [end.usage.modelCalls, end.usage.toolCalls], [3, 2]);
  });

  it("shows a tool's error to the model, and continues", async () => {
    service.model.enqueue(
      { toolCalls: [{ name: "read_file", arguments: { path: "missing.txt" } }] },
      { text: "There is no such file." },
    );
    const session = await service.create("Read a file that is not there");
    await service.completed(session.statusUrl);
    const result = (await readEvents(service, session.sessionId)).find(
      (event) => event.kind === "tool.result",
    );
    assert.equal(result?.kind === "tool.result" && result.state, "failed");
  });

  it("shows the model why the input of a call is invalid, and continues", async () => {
    service.model.enqueue({ toolCalls: [{ name: "read_file", arguments: { path: 7 } }] }, { text: "I see." });
    const session = await service.create("Call a tool wrongly");
    await service.completed(session.statusUrl);
    const result = (await readEvents(service, session.sessionId)).find(
      (event) => event.kind === "tool.result",
    );
    assert.equal(result?.kind === "tool.result" && result.state, "failed");
    assert.match(service.model.requests.at(-1)?.toolResults.at(-1) ?? "", /path/);
  });

  it("appends the caller's instructions to the base prompt under the heading ## Session Instructions", async () => {
    service.model.enqueue({ text: "Yes." });
    const session = await service.create("Any instructions?", { systemPrompt: "Always answer in French." });
    await service.completed(session.statusUrl);
    const { text } = service.model.requests.at(-1) ?? { text: "" };
    assert.match(text, /You work on web pages[\s\S]*## Session Instructions\n\nAlways answer in French\./);
  });

  it("plays each of several simultaneous follow-ups as its own turn, in order", async () => {
    service.model.enqueue(...["first", "a", "b", "c", "d"].map((text) => ({ text: `Answer ${text}` })));
    const session = await service.create("first");
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const answers = await Promise.all(
      ["a", "b", "c", "d"].map((text) => service.call("POST", path, { text })),
    );
    for (const answer of answers) assert.equal(answer.status, 202);
    await waitUntil(
      async () =>
        (await service.read(`/api/sessions/${session.sessionId}/agent/status`)).turnState === "idle",
      "all turns ended",
    );
    const events = await readEvents(service, session.sessionId);
    const started = events.filter((event) => event.kind === "run.started").map((event) => event.requestId);
    assert.equal(new Set(started).size, 5);
    const open: string[] = [];
    for (const event of events) {
      if (event.kind === "run.started") open.push(event.runId ?? "");
      if (event.kind === "run.completed") assert.deepEqual([open.pop()], [event.runId], "one turn at a time");
    }
  });

  it("retries a temporary failure of the provider as a new run of the same request", async () => {
    service.model.enqueue({ status: 500, message: "overloaded" }, { text: "Better now." });
    const session = await service.create("Fail once");
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const ends = events.filter((event) => event.kind === "run.completed");
    assert.deepEqual(
      ends.map((event) => event.kind === "run.completed" && event.outcome),
      ["errored", "succeeded"],
    );
    assert.equal(ends[0]?.kind === "run.completed" && ends[0].willRetry?.attempt, 2);
  });

  it("ends with the provider's message if the provider refuses the request", async () => {
    service.model.enqueue({ status: 400, message: "this model does not exist" });
    const session = await service.create("Fail for good");
    await service.completed(session.statusUrl);
    const status = await service.read<{ lastRun: { outcome: string; error: string } }>(
      `/api/sessions/${session.sessionId}/agent/status`,
    );
    assert.deepEqual(status.lastRun, { outcome: "errored", error: "this model does not exist" });
  });
});
