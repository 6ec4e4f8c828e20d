import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import type { RecordedRequest, Step } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

const outputSchema = {
  type: "object",
  properties: { title: { type: "string", maxLength: 10 }, tags: { type: "array", minItems: 1 } },
  required: ["title"],
};

type SentFormat = {
  format: {
    type: string;
    name: string;
    strict: boolean;
    schema: { properties?: Record<string, unknown>; required?: string[]; additionalProperties?: boolean };
  };
};

type Script = { work?: Step[]; structured?: Step[]; probe?: Step[] };

/**
 * Scripts the model for requests that contain `words`, with a queue of steps for each kind of request. Probes are
 * answered even without `words`. After the last step of `work`, the turn ends with a text.
 *
 * @returns the recorded requests.
 */
function answer(words: string, { work = [], structured = [], probe = [] }: Script): RecordedRequest[] {
  const requests: RecordedRequest[] = [];
  const queues = { turn: [...work], structured: [...structured], probe: [...probe] };
  service.model.respondWith((request) => {
    if (request.kind !== "probe" && !request.text.includes(words)) return undefined;
    requests.push(request);
    return (
      queues[request.kind].shift() ?? (request.kind === "turn" ? { text: "I have seen it." } : undefined)
    );
  });
  return requests;
}

async function play(task: string, script: Script, schema: Record<string, unknown> = outputSchema) {
  const requests = answer(task, script);
  const session = await service.create(task, { outputSchema: schema });
  await service.completed(session.statusUrl);
  const events = await readEvents(service, session.sessionId);
  const status = await readStatus(service, session.sessionId);
  return { requests, session, events, status };
}

type StoredMessage = { id: string; role: string; parts: { type: string }[] };

const kinds = (requests: RecordedRequest[]) => requests.map(({ kind }) => kind);

describe("a structured session", () => {
  it("probes, works without a response format, and ends in one call without tools", async () => {
    const { requests, session, events, status } = await play("whole", {
      work: [{ toolCalls: [{ name: "list_files", arguments: {} }] }],
      structured: [{ json: { title: "A shop" } }],
    });
    assert.deepEqual(kinds(requests), ["probe", "turn", "turn", "structured"]);
    const [probe, work, , collect] = requests;
    assert.equal(probe?.body.max_output_tokens, 16);
    assert.deepEqual([probe?.body.tools, collect?.body.tools], [undefined, undefined]);
    assert.ok(!probe?.text.includes("whole"), "the probe contains nothing of the session");
    assert.deepEqual([Array.isArray(work?.body.tools), work?.body.text], [true, undefined]);
    const deliverable = { runId: session.runId, status: "ready", value: { title: "A shop" } };
    assert.deepEqual(status.deliverable, deliverable);
    assert.deepEqual(only(events, "run.completed")[0]?.deliverable, deliverable);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      [
        "run.started",
        "message.completed",
        "deliverable.pending",
        "message.completed",
        "tool.call",
        "tool.result",
        "message.completed",
        "message.completed",
        "deliverable.ready",
        "run.completed",
      ],
    );
    assert.equal(only(events, "run.completed")[0]?.usage.modelCalls, 4);
  });

  it("shows the model the caller's own schema while it works, and sets a response format only at the end", async () => {
    const schema = {
      type: "object",
      properties: {
        price: { type: "number", maximum: 900, description: "In euro, with VAT, as the page shows it." },
      },
      required: ["price"],
    };
    const { requests } = await play("own schema", { structured: [{ json: { price: 20 } }] }, schema);
    const [probe, work] = requests;
    const shown = /```json\n(.+?)\n```/s.exec(work?.text ?? "")?.[1] ?? "";
    assert.deepEqual(JSON.parse(shown), schema);
    assert.match(work?.text ?? "", /before you finish, look up the value of every field/);
    assert.equal(work?.body.text, undefined);
    assert.doesNotMatch(probe?.text ?? "", /look up the value|as the page shows it\..*```/s);
  });

  it("sends the provider a strict projection of the schema, in the probe and in the structured call", async () => {
    const { requests } = await play("projection", {
      structured: [{ json: { title: "A shop", tags: null } }],
    });
    const sent = requests.filter(({ kind }) => kind !== "turn").map(({ body }) => body.text as SentFormat);
    assert.deepEqual(sent[0], sent[1]);
    const format = sent[0]?.format;
    assert.deepEqual([format?.type, format?.strict, format?.name], ["json_schema", true, "deliverable"]);
    const { properties, required, additionalProperties } = format?.schema ?? {};
    assert.deepEqual([required, additionalProperties], [Object.keys(properties ?? {}), false]);
    assert.deepEqual(properties?.title, { type: "string", description: "At most 10 characters." });
    const tags = { type: ["string", "null"], description: "At least 1 item. JSON text of a list." };
    assert.deepEqual(properties?.tags, tags);
  });

  it("converts the model's value to the caller's shape: null becomes absent, entries become a map", async () => {
    const schema = {
      type: "object",
      properties: {
        title: { type: "string" },
        note: { type: "string" },
        prices: { type: "object", additionalProperties: { type: "number" } },
      },
      required: ["title", "prices"],
      additionalProperties: false,
    };
    const prices = [
      { key: "tea", value: 4 },
      { key: "cake", value: 6.5 },
    ];
    const { status } = await play(
      "folded",
      { structured: [{ json: { title: "A shop", note: null, prices } }] },
      schema,
    );
    assert.deepEqual(status.deliverable?.value, { title: "A shop", prices: { tea: 4, cake: 6.5 } });
  });

  it("fails without a correction on a value that the response format forbids", async () => {
    const { requests, status } = await play("outside", { structured: [{ json: { title: 5, tags: null } }] });
    assert.deepEqual(kinds(requests), ["probe", "turn", "structured"]);
    assert.equal(status.deliverable?.status, "failed");
    assert.match(status.deliverable?.error ?? "", /not of the format it was given: \/title must be string/);
    assert.equal(status.deliverable?.rawText, '{"title":5,"tags":null}');
  });

  it("reports a violation in the model's JSON to the model, and in the caller's shape to the caller", async () => {
    const schema = {
      type: "object",
      properties: {
        prices: { type: "object", additionalProperties: { type: "number", minimum: 1 } },
      },
      required: ["prices"],
      additionalProperties: false,
    };
    const json = { prices: [{ key: "tea", value: 0 }] };
    const { requests, status } = await play("places", { structured: [{ json }, { json }] }, schema);
    assert.match(requests[3]?.userText ?? "", /- \/prices\/0\/value: must be >= 1/);
    const { deliverable } = status;
    assert.deepEqual(deliverable?.violations, [
      { path: "/prices/tea", rawPath: "/prices/0/value", message: "must be >= 1" },
    ]);
    assert.match(deliverable?.error ?? "", /\/prices\/tea must be >= 1/);
  });

  it("continues after a failed deliverable: a follow-up has its own", async () => {
    const { session } = await play("pauses nothing", { structured: [{ text: "no" }] });
    answer("pauses nothing", { structured: [{ json: { title: "Two" } }] });
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const followUp = await (await service.call("POST", path, { text: "pauses nothing, again" })).json();
    await service.completed(followUp.statusUrl);
    const { deliverable } = await readStatus(service, session.sessionId);
    assert.deepEqual(deliverable, { runId: followUp.runId, status: "ready", value: { title: "Two" } });
  });

  it("also stores the deliverable in the transcript, as a part of the agent's last message", async () => {
    const { session, events } = await play("transcript", {
      work: [{ text: "I look.", toolCalls: [{ name: "list_files", arguments: {} }] }],
      structured: [{ json: { title: "A shop" } }],
    });
    const { data } = await service.read<{ data: StoredMessage[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    const part = {
      type: "data-deliverable",
      data: { runId: session.runId, status: "ready", value: { title: "A shop" } },
    };
    assert.deepEqual(
      data.map(({ role, parts }) => [role, parts.map(({ type }) => type)]),
      [
        ["user", ["text"]],
        ["assistant", ["text", "tool-call"]],
        ["assistant", ["text", "data-deliverable"]],
      ],
    );
    assert.deepEqual(data[2]?.parts[1], part);
    const messages = only(events, "message.completed").map(({ message }) => message as StoredMessage);
    assert.deepEqual(
      messages.map(({ id }) => id),
      [data[0]?.id, data[1]?.id, data[2]?.id, data[2]?.id],
    );
    assert.deepEqual(messages[2]?.parts, [{ type: "text", text: "I have seen it." }]);
    assert.deepEqual(messages[3], data[2], "the last event of a message equals the stored message");
  });

  it("streams the same bytes again after the deliverable was added to a message", async () => {
    const { session } = await play("replayed", { structured: [{ json: { title: "A shop" } }] });
    const read = async () => (await service.call("GET", session.streamUrl)).text();
    const first = await read();
    assert.equal(await read(), first);
    const log = await service.container.services.log.read(session.sessionId, { after: 0, limit: 100 });
    const stored = log.map(({ seq, kind, body }) => `id: ${seq}\nevent: ${kind}\ndata: ${body}\n\n`).join("");
    assert.ok(first.endsWith(stored));
  });

  it("creates a message for the deliverable of a turn without a message of the agent", async () => {
    const probe = [{ status: 400, message: "Invalid schema for response_format" }];
    const { session } = await play("silent", { probe });
    const { data } = await service.read<{ data: StoredMessage[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    assert.deepEqual(
      data.map(({ role, parts }) => [role, parts.map(({ type }) => type)]),
      [
        ["user", ["text"]],
        ["assistant", ["data-deliverable"]],
      ],
    );
  });

  it("shows the model its own JSON and the violations once, and accepts the corrected result", async () => {
    const { requests, status } = await play("correction", {
      structured: [{ json: { title: "A title that is too long" } }, { json: { title: "Short" } }],
    });
    assert.deepEqual(kinds(requests), ["probe", "turn", "structured", "structured"]);
    assert.match(requests[3]?.text ?? "", /"A title that is too long"/);
    assert.match(requests[3]?.userText ?? "", /\/title: .*10 characters/);
    assert.equal(requests[3]?.body.tools, undefined);
    assert.deepEqual(status.deliverable?.value, { title: "Short" });
  });

  it("fails after a correction that is still invalid, and shows the model's text", async () => {
    const { requests, status, events } = await play("twice", {
      structured: [
        { json: { title: "A title that is too long" } },
        { json: { title: "Still far too long" } },
      ],
    });
    assert.equal(requests.length, 4, "there is only one correction");
    assert.equal(status.deliverable?.status, "failed");
    assert.match(status.deliverable?.error ?? "", /\/title/);
    assert.deepEqual(JSON.parse(status.deliverable?.rawText ?? ""), { title: "Still far too long" });
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
  });

  for (const [how, step, error] of [
    ["is not JSON", { text: '{"title": ' }, /not JSON/],
    ["is cut off", { text: '{"title": "A', finish: "length" }, /cut off/],
    ["is refused", { finish: "refusal", refusal: "I would rather not." }, /refused: I would rather not/],
    ["is filtered", { text: "", finish: "content_filter" }, /refused/],
    [
      "is filtered when it has begun",
      { text: '{"title": "A', finish: "content_filter" },
      /filter ended the answer\.$/,
    ],
    ["is a 4xx of the provider", { status: 400, message: "bad format" }, /bad format/],
  ] as const)
    it(`fails without a correction when the answer ${how}`, async () => {
      const { requests, status } = await play(`the answer ${how}`, { structured: [step] });
      assert.deepEqual(kinds(requests), ["probe", "turn", "structured"]);
      assert.equal(status.deliverable?.status, "failed");
      assert.match(status.deliverable?.error ?? "", error);
    });

  it("processes a long answer in time proportional to its length", async () => {
    const schema = { ...outputSchema, properties: { title: { type: "string" } } };
    const measure = async (words: number) => {
      const title = "many words ".repeat(words);
      const before = process.cpuUsage();
      const { status } = await play(`${words} words`, { structured: [{ json: { title } }] }, schema);
      assert.deepEqual(status.deliverable?.value, { title });
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await measure(5_000);
    const [short, long] = [await measure(5_000), await measure(40_000)];
    assert.ok(long < 24 * short, `eight times the length took ${long / short} times the processor time`);
  });

  it("fails with a sentence for an answer that is nested too deeply, and keeps its text", async () => {
    const text = `{"title": "Deep", "tags": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const { status } = await play("depths", { structured: [{ textChunks: [text] }] });
    assert.equal(status.deliverable?.error, "The model's structured answer is nested too deeply.");
    assert.equal(status.deliverable.rawText, text);
  });

  it("keeps the text of an answer that broke off", async () => {
    const { status } = await play("broken off", {
      structured: [{ text: '{"title": "Half a', failure: { code: "invalid_prompt", message: "no more" } }],
    });
    assert.deepEqual(
      [status.deliverable?.status, status.deliverable?.rawText],
      ["failed", '{"title": "Half a'],
    );
  });

  it("ends errored before any work when the provider refuses the schema in the probe", async () => {
    const probe = [{ status: 400, message: "Invalid schema for response_format" }];
    const { requests, status, events } = await play("refused", { probe });
    assert.deepEqual(kinds(requests), ["probe"]);
    assert.deepEqual(status.lastRun, { outcome: "errored", error: "Invalid schema for response_format" });
    assert.deepEqual(
      [status.deliverable?.status, status.deliverable?.error],
      ["failed", "Invalid schema for response_format"],
    );
    assert.equal(only(events, "deliverable.failed").length, 1);
  });

  it("probes again in every run of the retry chain, and only the last run has a deliverable", async () => {
    const { requests, events, session } = await play("chain", {
      work: [{ status: 503, message: "overloaded" }],
      structured: [{ json: { title: "Late" } }],
    });
    assert.deepEqual(kinds(requests), ["probe", "turn", "probe", "turn", "structured"]);
    const ends = only(events, "run.completed").map(({ runId, deliverable, willRetry }) => [
      runId === session.runId,
      willRetry?.attempt,
      deliverable?.runId === runId,
      deliverable?.status,
    ]);
    assert.deepEqual(ends, [
      [true, 2, false, undefined],
      [false, undefined, true, "ready"],
    ]);
  });

  it("says nothing final about an attempt that is retried: no deliverable, part or callback", async () => {
    const receiver = await startReceiver([200]);
    after(() => receiver.close());
    answer("chain of three", {
      work: [
        { text: "Half.", toolCalls: [{ name: "list_files", arguments: {} }] },
        { status: 503, message: "overloaded", headers: { "retry-after-ms": "400" } },
        { status: 503, message: "overloaded" },
      ],
      structured: [{ status: 503, message: "overloaded" }, { json: { title: "Late" } }],
    });
    const session = await service.create("chain of three", {
      outputSchema,
      callback: { url: receiver.url },
    });
    await waitUntil(async () => {
      const status = await readStatus(service, session.sessionId);
      return status.lastRun?.outcome === "errored" && status.activeRunId === null;
    }, "the first attempt has failed");
    const { deliverable, lastRunId, turnState } = await readStatus(service, session.sessionId);
    assert.deepEqual([turnState, deliverable], ["running", { runId: lastRunId, status: "pending" }]);

    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const runIds = only(events, "run.started").map(({ runId }) => runId);
    assert.equal(runIds.length, 4);
    assert.deepEqual(only(events, "deliverable.failed"), []);
    assert.deepEqual(
      only(events, "deliverable.ready").map(({ runId }) => runId),
      [runIds[3]],
    );
    await waitUntil(() => receiver.received.length === 5, "the callbacks have arrived");
    assert.deepEqual(
      receiver.received
        .map(({ body }) => JSON.parse(String(body)))
        .map(({ event, runId }) => [event, runId])
        .sort(),
      [...runIds.map((runId) => ["run.started", runId]), ["run.completed", runIds[3]]].sort(),
    );
    const { data } = await service.read<{ data: StoredMessage[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    const parts = data.flatMap((message) => message.parts).filter(({ type }) => type === "data-deliverable");
    assert.deepEqual(parts, [
      { type: "data-deliverable", data: { runId: runIds[3], status: "ready", value: { title: "Late" } } },
    ]);
  });

  it("is retried when the structured call fails temporarily", async () => {
    const { requests, status } = await play("late failure", {
      structured: [{ status: 503, message: "overloaded" }, { json: { title: "Late" } }],
    });
    assert.deepEqual(kinds(requests), ["probe", "turn", "structured", "probe", "turn", "structured"]);
    assert.equal(status.deliverable?.status, "ready");
  });

  it("has the deliverable null before its first run, pending while it plays, and failed after a stop", async () => {
    answer("stopped", { structured: [{ json: { title: "Never" }, hold: new Promise(() => {}) }] });
    const session = await service.create("stopped", { outputSchema });
    const before = await readStatus(service, session.sessionId);
    assert.ok(before.deliverable === null || before.deliverable.status === "pending");
    await service.model.waitForRequest(
      ({ kind, text, outcome }) => kind === "structured" && text.includes("stopped") && outcome === "open",
    );
    const during = await readStatus(service, session.sessionId);
    assert.deepEqual(
      [during.turnState, during.deliverable],
      ["running", { runId: session.runId, status: "pending" }],
    );
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await service.completed(session.statusUrl);
    const ended = await readStatus(service, session.sessionId);
    assert.deepEqual(
      [ended.turnState, ended.deliverable],
      ["idle", { runId: session.runId, status: "failed", error: "the turn was stopped" }],
    );
  });

  it("has a separate deliverable for a follow-up", async () => {
    const { session } = await play("again", { structured: [{ json: { title: "One" } }] });
    answer("again", { structured: [{ json: { title: "Two" } }] });
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const followUp = await (await service.call("POST", path, { text: "again, please" })).json();
    await service.completed(followUp.statusUrl);
    assert.deepEqual((await readStatus(service, session.sessionId)).deliverable, {
      runId: followUp.runId,
      status: "ready",
      value: { title: "Two" },
    });
  });

  it("keeps every key, and the order of the keys", async () => {
    const result = ["zoo", "__proto__", "constructor", "ant"].map((key, value) => ({ key, value }));
    const schema = { type: "object", additionalProperties: { type: "integer" } };
    const { status, events } = await play("keys", { structured: [{ json: { result } }] }, schema);
    const text = '{"zoo":0,"__proto__":1,"constructor":2,"ant":3}';
    assert.equal(JSON.stringify(status.deliverable?.value), text);
    const { deliverable } = only(events, "run.completed")[0] ?? {};
    assert.equal(deliverable?.status === "ready" && JSON.stringify(deliverable.value), text);
  });

  it("replaces characters that cannot be stored", async () => {
    const { status } = await play("odd", { structured: [{ json: { title: "a\0b\ud800" } }] });
    assert.deepEqual(status.deliverable?.value, { title: "a\ufffdb\ufffd" });
  });
});

type FollowUp = { requestId: string; runId: string; statusUrl: string; queued: boolean };

/** Steers a turn. `text` must contain the words with which the scripted model recognizes the task. */
const steer = async (target: TestService, sessionId: string, text: string): Promise<FollowUp> => {
  const path = `/api/sessions/${sessionId}/agent/messages`;
  const response = await target.call("POST", path, { text, mode: "steer" });
  assert.equal(response.status, 202);
  return (await response.json()) as FollowUp;
};

describe("a steer of a structured turn", () => {
  it("becomes the next turn after the collection has started, with its own collection and correction", async () => {
    const gate = Promise.withResolvers<void>();
    const long = { title: "A title that is too long" };
    const requests = answer("tardy", {
      structured: [
        { json: long, hold: gate.promise },
        { json: { title: "One" } },
        { json: long },
        { json: { title: "Two" } },
      ],
    });
    const session = await service.create("tardy", { outputSchema });
    await service.model.waitForRequest(({ kind, text }) => kind === "structured" && text.includes("tardy"));
    const first = await steer(service, session.sessionId, "tardy, and the colour");
    const second = await steer(service, session.sessionId, "tardy, and the size");
    gate.resolve();
    for (const { statusUrl } of [session, first, second]) await service.completed(statusUrl);
    assert.deepEqual([first.queued, second.queued], [true, true]);
    assert.equal(new Set([session.runId, first.runId, second.runId]).size, 3);
    assert.deepEqual(kinds(requests), [
      "probe",
      "turn",
      "structured",
      "structured",
      "probe",
      "turn",
      "structured",
      "structured",
      "probe",
      "turn",
      "structured",
    ]);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ runId, requestId }) => [runId, requestId]),
      [session, first, second].map(({ runId, requestId }) => [runId, requestId]),
    );
    assert.equal(only(events, "turn.steered").length, 0);
    const { data } = await service.read<{ data: { role: string; parts: { text?: string }[] }[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    assert.deepEqual(
      data.filter(({ role }) => role === "user").map(({ parts }) => parts[0]?.text),
      ["tardy", "tardy, and the colour", "tardy, and the size"],
    );
  });

  it("is read by the turn before the collection has started", async () => {
    const gate = Promise.withResolvers<void>();
    const requests = answer("early", {
      work: [{ text: "Nearly done.", hold: gate.promise }],
      structured: [{ json: { title: "One" } }],
    });
    const session = await service.create("early", { outputSchema });
    await service.model.waitForRequest(({ kind, userText }) => kind === "turn" && userText.includes("early"));
    const followUp = await steer(service, session.sessionId, "early, and the colour");
    gate.resolve();
    await service.completed(followUp.statusUrl);
    assert.equal(followUp.runId, session.runId);
    assert.deepEqual(kinds(requests), ["probe", "turn", "turn", "structured"]);
    assert.match(requests.at(-1)?.text ?? "", /and the colour/);
  });

  it("remains the next turn if the process ends during the collection", async () => {
    const first = await openTestService();
    first.model.respondWith(({ kind }) =>
      kind === "structured" ? { json: { title: "Never" }, hold: new Promise(() => {}) } : { text: "Seen." },
    );
    const session = await first.create("interrupted", { outputSchema });
    await first.model.waitForRequest(({ kind }) => kind === "structured");
    const followUp = await steer(first, session.sessionId, "and the colour");
    await first.close({ keepFiles: true });

    const second = await openTestService({}, first.dataDir);
    second.model.respondWith(({ kind }) =>
      kind === "structured" ? { json: { title: "Done" } } : { text: "Seen." },
    );
    await second.completed(session.statusUrl);
    await second.completed(followUp.statusUrl);
    assert.deepEqual(kinds(second.model.requests), ["structured", "probe", "turn", "structured"]);
    const ends = only(await readEvents(second, session.sessionId), "run.completed");
    assert.deepEqual(
      ends.map(({ runId, outcome }) => [runId, outcome]),
      [
        [session.runId, "succeeded"],
        [followUp.runId, "succeeded"],
      ],
    );
    await second.close();
  });
});
