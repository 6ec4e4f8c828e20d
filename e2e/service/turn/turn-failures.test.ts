import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService({ AGENT_MAX_STEPS: "3", SANDBOX: "unconfined" });
});
after(() => service.close());

const fail = (status: number, message: string, headers = {}): Step => ({ status, message, headers });
const listFiles: Step = { text: "I look.", toolCalls: [{ name: "list_files", arguments: {} }] };

/** Scripts the model for messages that contain `words`. Calls for other messages do not use up the steps. */
const answer = (words: string, steps: Step[]) => {
  let next = 0;
  service.model.respondWith(({ userText }) => (userText.includes(words) ? steps[next++] : undefined));
};

async function play(task: string, steps: Step[]) {
  answer(task, steps);
  const session = await service.create(task);
  await service.completed(session.statusUrl);
  return { session, events: await readEvents(service, session.sessionId) };
}

describe("a turn that fails", () => {
  it("at the step limit ends errored without a retry, and keeps its messages and results", async () => {
    const { session, events } = await play("limit", Array(9).fill(listFiles));
    const [end, ...others] = only(events, "run.completed");
    assert.deepEqual(others, []);
    assert.deepEqual(
      [end?.outcome, end?.error, end?.willRetry],
      ["errored", "step limit of 3 reached", undefined],
    );
    assert.deepEqual([end?.usage.modelCalls, only(events, "tool.result").length], [3, 3]);
    const { data } = await service.read<{ data: unknown[] }>(`/api/sessions/${session.sessionId}/messages`);
    assert.equal(data.length, 4);
  });

  it("has five runs; each but the last announces its retry, and the request completes once", async () => {
    const { session, events } = await play("chain", Array(9).fill(fail(503, "overloaded")));
    const ends = only(events, "run.completed");
    assert.deepEqual(
      ends.map(({ outcome, error, willRetry }) => [outcome, error, willRetry?.attempt]),
      [2, 3, 4, 5, undefined].map((attempt) => ["errored", "overloaded", attempt]),
    );
    assert.deepEqual(
      only(events, "run.started").map(({ attempt, origin, runId }) => [attempt, origin, runId]),
      ends.map(({ runId }, index) => [index + 1, index === 0 ? "external" : "retry", runId]),
    );
    assert.equal(only(events, "message.completed").length, 1, "the person's message is in the log once");
    assert.deepEqual((await readStatus(service, session.sessionId)).lastRun, {
      outcome: "errored",
      error: "overloaded",
    });
  });

  it("reads `running` while its retry waits, and a new message waits behind the retry", async () => {
    answer("wait", [
      fail(429, "slow down", { "retry-after-ms": "1500" }),
      { text: "Now." },
      { text: "And then." },
    ]);
    const session = await service.create("wait");
    await waitUntil(
      async () => (await readStatus(service, session.sessionId)).lastRun?.outcome === "errored",
      "the first run has failed",
    );
    const status = await readStatus(service, session.sessionId);
    assert.deepEqual([status.turnState, status.activeRunId], ["running", null]);
    assert.equal((await service.read(session.statusUrl)).status, "running");
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const queued = await (await service.call("POST", path, { text: "wait for me too" })).json();
    assert.equal(queued.queued, true);
    await service.completed(queued.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ requestId, outcome }) => [requestId, outcome]),
      [
        [session.requestId, "errored"],
        [session.requestId, "succeeded"],
        [queued.requestId, "succeeded"],
      ],
    );
    const [refused, repeated] = service.model.requests.slice(-3);
    const waitedMs = (repeated?.atMs ?? 0) - (refused?.atMs ?? 0);
    assert.ok(waitedMs >= 400, `the retry came before Retry-After: ${waitedMs} ms`);
  });

  it("continues in its retry from the stored tool results, without the partial message of the failed run", async () => {
    const cut: Step = {
      text: "This never comes to its end, and nobody shall read it.",
      cutAfterBytes: 1_500,
    };
    const { events } = await play("go on", [listFiles, cut, { text: "At last." }]);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["errored", "succeeded"],
    );
    assert.equal(only(events, "tool.result").length, 1);
    const last = service.model.requests.at(-1);
    assert.equal(last?.toolResults.length, 1);
    assert.doesNotMatch(last?.text ?? "", /never comes/);
    assert.doesNotMatch(JSON.stringify(events), /never comes/);
  });

  for (const [how, cutCleanly] of [
    ["breaks off", false],
    ["ends too early", true],
  ] as const)
    it(`is retried when the provider's stream ${how} in the middle of the text`, async () => {
      const cut: Step = { text: "Half of an answer that is long enough.", cutAfterBytes: 1_800, cutCleanly };
      const { events } = await play(`stream ${how}`, [cut, { text: "The whole." }]);
      assert.deepEqual(
        only(events, "run.completed").map(({ outcome }) => outcome),
        ["errored", "succeeded"],
      );
    });

  it("is retried when the provider reports a failure in its stream", async () => {
    const failed: Step = { text: "I was", failure: { code: "server_error", message: "it broke" } };
    const { events } = await play("reported", [failed, { text: "The whole." }]);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome, error }) => [outcome, error]),
      [
        ["errored", "it broke"],
        ["succeeded", undefined],
      ],
    );
  });

  it("ends without a retry if the provider's error is permanent", async () => {
    const { events } = await play("refused", [fail(401, "Incorrect API key provided: sk-abcdefgh")]);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome, error, willRetry }) => [outcome, error, willRetry]),
      [["errored", "Incorrect API key provided: [key removed]", undefined]],
    );
  });

  it("ends without a retry if an answer is too large, and its calls do not run", async () => {
    const most = "The model's answer was ended, because it has more than";
    const listing = { name: "list_files", arguments: {} };
    const cases: [Step, string][] = [
      [{ textChunks: Array(70).fill("x".repeat(65_536)), toolCalls: [listing] }, "4 MiB of text"],
      [{ toolCalls: Array(200).fill(listing) }, "128 tool calls"],
    ];
    for (const [step, reason] of cases) {
      const { events } = await play(`too large ${reason}`, [step]);
      const [end, ...others] = only(events, "run.completed");
      assert.deepEqual([end?.outcome, end?.willRetry, others], ["errored", undefined, []]);
      assert.ok(end?.error?.startsWith(`${most} ${reason}`), end?.error);
      assert.deepEqual(only(events, "tool.result"), []);
    }
  });

  it("may have any characters in its error", async () => {
    const { events } = await play("odd", [fail(400, `${"x".repeat(999)}😀 and \0 more`)]);
    assert.match(only(events, "run.completed")[0]?.error ?? "", /^x{999}/);
  });

  it("does not fail for NUL and lone surrogates in texts, inputs and results", async () => {
    const odd = "a\0b\ud83d";
    const { events } = await play("characters", [
      {
        text: `I say ${odd}`,
        toolCalls: [
          { name: "write_file", arguments: { path: "odd.txt", content: odd } },
          { name: "run_shell", arguments: { command: "printf 'x\\0y\\377\\355\\240\\200z'" } },
          { name: "list_files", arguments: { path: odd } },
        ],
      },
      { text: "Done." },
    ]);
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
    assert.equal(only(events, "tool.result").length, 3);
    assert.match(JSON.stringify(only(events, "message.completed")[1]), /I say a\ufffdb/);
  });

  it("does not fail for a tool call id that the model has used before", async () => {
    const shell = (word: string) => ({
      toolCalls: [{ id: "0", name: "run_shell", arguments: { command: `echo ${word}` } }],
    });
    const { events } = await play("same id", [shell("one"), shell("two"), { text: "Done." }]);
    assert.deepEqual(
      only(events, "tool.result").map(({ state, preview }) => [state, preview.split("\n")[0]]),
      [
        ["succeeded", "one"],
        ["succeeded", "two"],
      ],
    );
  });
});
