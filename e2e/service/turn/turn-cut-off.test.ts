import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest, Step } from "#e2e/fixtures/scripted-model/types.ts";
import { armFaults } from "#lib/faults/fault-point.ts";
import { spawn, wait } from "../agents/agents-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

/** The result of a call in a cut-off answer. */
const NOT_RUN = /^(Error: )?Not run: the answer was cut off at the model's output limit, so none of its tool/;
const NOTICE = /\[Added by the service\] Your last answer was cut off at the model's output limit\./;
const ENDED = "The model's answers were cut off at its output limit 3 times in a row.";

const write = (path: string) => ({ name: "write_file", arguments: { path, content: "a" } });
const cut = (step: Step): Step => ({ ...step, finish: "length" });

for (const api of ["responses", "chat"] as const)
  describe(`an answer that was cut off (${api})`, () => {
    let service: TestService;
    before(async () => {
      service = await openTestService({ SANDBOX: "unconfined", AGENT_MODEL_API: api });
    });
    after(() => service.close());

    /** Plays a turn. The model gives the steps in order, and then ends the turn. */
    async function play(steps: Step[], more: Record<string, unknown> = {}) {
      const requests: RecordedRequest[] = [];
      service.model.respondWith((request) => {
        if (request.kind !== "turn") return { json: {} };
        requests.push(request);
        return steps[requests.length - 1] ?? { text: "Done." };
      });
      const session = await service.create(`task ${crypto.randomUUID()}`, more);
      await service.completed(session.statusUrl);
      const events = await readEvents(service, session.sessionId);
      const [end] = only(events, "run.completed");
      const results = only(events, "tool.result").map(({ toolName, state, preview }) => ({
        toolName,
        state,
        preview,
      }));
      return { session, events, requests, results, end, told: requests[1]?.toolResults ?? [] };
    }

    /** The files in the workspace, as the tool lists them in a last step. */
    const listFiles: Step = { toolCalls: [{ name: "list_files", arguments: {} }] };

    it("runs no call: text, and publish_variant with empty arguments", async () => {
      const tool = service.container.services.tools.find(({ name }) => name === "publish_variant");
      assert.ok(tool);
      const { execute } = tool;
      let published = 0;
      tool.execute = async (...args) => {
        published += 1;
        return execute(...args);
      };
      try {
        const step = { text: "I publish it now.", toolCalls: [{ name: "publish_variant", arguments: "" }] };
        const { results, told, end, events } = await play([cut(step)]);
        assert.equal(published, 0);
        assert.deepEqual([end?.outcome, end?.usage.modelCalls, end?.usage.toolCalls], ["succeeded", 2, 0]);
        assert.deepEqual(
          results.map(({ toolName, state }) => [toolName, state]),
          [["publish_variant", "failed"]],
        );
        assert.match(results[0]?.preview ?? "", NOT_RUN);
        assert.equal(told.length, 1);
        assert.match(told[0] ?? "", NOT_RUN);
        assert.match(JSON.stringify(only(events, "message.completed")), /I publish it now\./);
        // The same call in an answer that ended runs.
        await play([step]);
        assert.equal(published, 1);
      } finally {
        tool.execute = execute;
      }
    });

    it("runs no call: complete ones before one that is cut in the middle of its JSON", async () => {
      const calls = [
        write("a.txt"),
        write("b.txt"),
        { name: "write_file", arguments: '{"path":"c.txt","con' },
      ];
      const { results, told, requests } = await play([cut({ toolCalls: calls }), listFiles]);
      assert.deepEqual(
        results.map(({ toolName, state }) => [toolName, state]),
        [
          ["write_file", "failed"],
          ["write_file", "failed"],
          ["write_file", "failed"],
          ["list_files", "succeeded"],
        ],
      );
      assert.equal(told.length, 3);
      for (const text of told) assert.match(text, NOT_RUN);
      assert.doesNotMatch(requests.at(-1)?.toolResults.at(-1) ?? "", /[abc]\.txt/);
    });

    it("runs no call that only reads stored data", async () => {
      const { told } = await play([cut({ toolCalls: [{ name: "list_transcript", arguments: {} }] })]);
      assert.match(told[0] ?? "", NOT_RUN);
    });

    it("without calls does not end the turn: the model continues, and both texts stay", async () => {
      const { events, requests, end } = await play([
        cut({ text: "The first half" }),
        { text: "and the rest." },
      ]);
      assert.match(requests[1]?.userText ?? "", NOTICE);
      assert.match(requests[1]?.text ?? "", /The first half/);
      assert.match(
        JSON.stringify(only(events, "message.completed").slice(1)),
        /The first half.*and the rest\./,
      );
      assert.deepEqual([end?.outcome, end?.usage.modelCalls], ["succeeded", 2]);
    });

    it("without any content does not end the turn", async () => {
      const { requests, end } = await play([cut({ reasoning: "I thi" }), { text: "An answer." }]);
      assert.match(requests[1]?.text ?? "", NOTICE);
      assert.doesNotMatch(JSON.stringify(requests[1]?.body), /"type":"reasoning"/);
      assert.equal(end?.outcome, "succeeded");
    });

    it("ends the turn with an error if it happens three times in a row", async () => {
      for (const step of [{ text: "On and on" }, { toolCalls: [write("a.txt")] }]) {
        const { session, events, end, requests } = await play(Array(5).fill(cut(step)));
        assert.deepEqual(
          [end?.outcome, end?.error, end?.willRetry, requests.length],
          ["errored", ENDED, undefined, 3],
        );
        assert.equal(only(events, "run.completed").length, 1);
        assert.deepEqual((await readStatus(service, session.sessionId)).lastRun, {
          outcome: "errored",
          error: ENDED,
        });
      }
    });

    it("does not end the turn if answers between them were complete", async () => {
      const pair = [cut({ toolCalls: [write("a.txt")] }), cut({ text: "Half" }), listFiles];
      const { end, requests } = await play([...pair, ...pair]);
      assert.deepEqual([end?.outcome, requests.length], ["succeeded", 7]);
    });

    it("counts after a crash as well, and its calls still do not run", async () => {
      armFaults({ point: "step-recorded", nth: 2, action: "throw", afterMs: 0 });
      try {
        const { end, requests, results } = await play(Array(5).fill(cut({ toolCalls: [write("a.txt")] })));
        assert.deepEqual([end?.outcome, end?.error, requests.length], ["errored", ENDED, 3]);
        assert.equal(results.length, 3);
      } finally {
        armFaults(undefined);
      }
    });

    it("runs no call if the provider's stream ends without a finish or its filter ends the answer", async () => {
      const call = { text: "I write.", toolCalls: [write("a.txt")] };
      const filtered = await play([{ ...call, finish: "content_filter" }, listFiles]);
      assert.deepEqual(
        [filtered.end?.outcome, filtered.end?.error, filtered.results, filtered.requests.length],
        ["errored", "The model provider's content filter ended the answer.", [], 1],
      );
      const unfinished: Step =
        api === "chat"
          ? { ...call, finishReason: null }
          : { ...call, cutAfterBytes: 5_000, cutCleanly: true };
      for (const step of [unfinished, { ...call, finishReason: "mystery" }]) {
        const { events, requests } = await play([step, listFiles]);
        assert.deepEqual(
          only(events, "run.completed").map(({ outcome }) => outcome),
          ["errored", "succeeded"],
        );
        assert.deepEqual(
          only(events, "tool.result").map(({ toolName }) => toolName),
          ["list_files"],
        );
        assert.doesNotMatch(requests.at(-1)?.toolResults.at(-1) ?? "", /a\.txt/);
      }
    });

    it("submits no result of a sub-agent", async () => {
      let cuts = 0;
      service.model.respondWith(({ userText, text, answersSoFar }) => {
        if (userText.includes("delegate it"))
          return [{ toolCalls: [spawn({ objective: "count the files" })] }, { toolCalls: [wait()] }][
            answersSoFar
          ];
        if (!userText.includes("count the files")) return { text: "Done." };
        const isTold = text.includes("Not run: the answer was cut off");
        if (!isTold) cuts += 1;
        const result = isTold ? "two" : "one, but not yet whole";
        const step: Step = { toolCalls: [{ name: "submit_result", arguments: { result } }] };
        return isTold ? step : cut(step);
      });
      const session = await service.create("delegate it", { subAgents: true });
      await service.completed(session.statusUrl);
      assert.equal(cuts, 1);
      const requests = service.model.requests.filter(({ userText }) => userText.includes("delegate it"));
      assert.match(requests.at(-1)?.toolResults.at(-1) ?? "", /"two"/);
      assert.doesNotMatch(requests.at(-1)?.text ?? "", /not yet whole/);
    });
  });

describe("empty arguments of a call in a complete answer", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService({ SANDBOX: "unconfined", AGENT_MODEL_API: "chat" });
  });
  after(() => service.close());

  it("are {} if the tool requires nothing, and invalid otherwise", async () => {
    let calls = 0;
    service.model.respondWith(() =>
      calls++ === 0
        ? {
            toolCalls: [
              { name: "list_files", arguments: "" },
              { name: "write_file", arguments: "" },
            ],
          }
        : { text: "Done." },
    );
    const session = await service.create("call with nothing");
    await service.completed(session.statusUrl);
    const results = only(await readEvents(service, session.sessionId), "tool.result");
    assert.deepEqual(results.map(({ toolName, state }) => [toolName, state]).toSorted(), [
      ["list_files", "succeeded"],
      ["write_file", "failed"],
    ]);
    const refused = results.find(({ toolName }) => toolName === "write_file");
    assert.match(refused?.preview ?? "", /^The input is empty, but needs: path, content\./);
  });
});
