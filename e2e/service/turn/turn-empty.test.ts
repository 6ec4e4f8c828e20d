import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest, Step } from "#e2e/fixtures/scripted-model/types.ts";
import { armFaults } from "#lib/faults/fault-point.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

const ENDED = "The model gave an empty answer twice: no text and no tool call.";
const usage = { inputTokens: 100, outputTokens: 10 };
const listFiles: Step = { toolCalls: [{ name: "list_files", arguments: {} }], usage };
const answered: Step = { text: "Done.", usage };
const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };

const EMPTY: [title: string, step: Step][] = [
  ["nothing", { text: "", usage }],
  ["white space", { text: " \n\n ", usage }],
  ["reasoning alone", { reasoning: "I think.", usage }],
];
const [[, nothing]] = EMPTY as [[string, Step]];

for (const api of ["responses", "chat"] as const)
  describe(`an empty answer (${api})`, () => {
    let service: TestService;
    before(async () => {
      service = await openTestService({ SANDBOX: "unconfined", AGENT_MODEL_API: api });
    });
    after(() => service.close());

    /** Plays a turn with these answers, and with these structured answers. */
    async function play(steps: Step[], structured: Step[] = [], more: Record<string, unknown> = {}) {
      const requests: RecordedRequest[] = [];
      const queues = { turn: [...steps], structured: [...structured] };
      service.model.respondWith((request) => {
        if (request.kind === "probe") return { json: {}, usage: { inputTokens: 0, outputTokens: 0 } };
        requests.push(request);
        return queues[request.kind].shift() ?? answered;
      });
      const session = await service.create(`task ${crypto.randomUUID()}`, more);
      await service.completed(session.statusUrl);
      const events = await readEvents(service, session.sessionId);
      const status = await readStatus(service, session.sessionId);
      const [end] = only(events, "run.completed");
      return { session, events, requests, status, end };
    }

    for (const [title, step] of EMPTY)
      it(`of ${title} is tried once more, and both calls count`, async () => {
        const { events, requests, end } = await play([step]);
        assert.deepEqual(
          [end?.outcome, end?.usage.modelCalls, end?.usage.inputTokens, end?.usage.outputTokens],
          ["succeeded", 2, 200, 20],
        );
        assert.deepEqual(
          requests[1]?.body.input ?? requests[1]?.body.messages,
          requests[0]?.body.input ?? requests[0]?.body.messages,
        );
        assert.match(JSON.stringify(only(events, "message.completed").at(-1)), /Done\./);
      });

    it("ends the turn with an error if the next one is empty too", async () => {
      for (const [, step] of EMPTY) {
        const { events, requests, status, end } = await play([listFiles, step, step]);
        assert.deepEqual(
          [end?.outcome, end?.error, end?.willRetry, requests.length, end?.usage.inputTokens],
          ["errored", ENDED, undefined, 3, 300],
        );
        assert.equal(only(events, "run.completed").length, 1);
        assert.deepEqual(status.lastRun, { outcome: "errored", error: ENDED });
      }
    });

    it("does not end the turn if an answer between two of them was not empty", async () => {
      const { requests, end } = await play([nothing, listFiles, nothing, listFiles, nothing]);
      assert.deepEqual([end?.outcome, requests.length], ["succeeded", 6]);
    });

    it("counts after a crash as well", async () => {
      armFaults({ point: "step-recorded", nth: 1, action: "throw", afterMs: 0 });
      try {
        const { requests, end } = await play([nothing, nothing]);
        assert.deepEqual([end?.outcome, end?.error, requests.length], ["errored", ENDED, 2]);
      } finally {
        armFaults(undefined);
      }
    });

    it("of a structured call is tried once more, and both calls count", async () => {
      const found: Step = { json: { title: "A shop" }, usage };
      const good = await play([answered], [nothing, found], { outputSchema });
      assert.equal(good.end?.deliverable?.status, "ready");
      const bad = await play([answered], [nothing, nothing], { outputSchema });
      const { deliverable } = bad.status;
      assert.deepEqual(
        [deliverable?.status, deliverable?.status === "failed" && deliverable.error, bad.requests.length],
        ["failed", ENDED, 3],
      );
      for (const { end } of [good, bad])
        assert.deepEqual([end?.usage.inputTokens, end?.usage.modelCalls], [300, 4]);
    });

    it("in the work of a structured turn ends it with an error if it comes twice", async () => {
      const { end, requests } = await play([nothing, nothing], [], { outputSchema });
      assert.deepEqual([end?.outcome, end?.error, requests.length], ["errored", ENDED, 2]);
    });
  });
