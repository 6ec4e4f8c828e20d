import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

const BUDGET_TOKENS = 12_000;
const TASK = "Compare the offers in the files, and keep the colour vermilion in mind";
/** Excludes tools that these turns do not call, because their descriptions would fill the small context. */
const PROFILE = {
  tools: {
    exclude: [
      "mcp_builtin__*",
      "publish_qa_report",
      "deploy_landing_page",
      "import_legacy_session",
      "set_previews",
      "check_variant",
      "run_tests",
      "wait_for_test_results",
    ],
  },
};

let service: TestService;

before(async () => {
  service = await openTestService({ SANDBOX: "unconfined", AGENT_CONTEXT_TOKENS: String(BUDGET_TOKENS) });
});
after(() => service.close());

const turn = () => service.container.services.turn;
const isSummaryRequest = (text: string) => text.includes(SUMMARY_REQUEST);

/** Scripts the model. Each step has a text and runs a command. `summarize` answers the requests for a summary. */
function scriptSteps(steps: number, each: { text: string; command: string }, summarize: () => object) {
  let calls = 0;
  service.model.respondWith(({ text }) => {
    if (isSummaryRequest(text)) return summarize();
    calls++;
    if (calls > steps) return { text: "All compared." };
    return {
      text: `${calls}: ${each.text}`,
      toolCalls: [{ name: "run_shell", arguments: { command: each.command } }],
    };
  });
}

/** Returns the ids of the tool calls and of the tool results in a prompt. */
function readCalls(input: unknown): { calls: string[]; results: string[] } {
  const items = (Array.isArray(input) ? input : []) as { type?: string; call_id?: string }[];
  const idsOf = (type: string) => items.flatMap((item) => (item.type === type ? (item.call_id ?? []) : []));
  return { calls: idsOf("function_call"), results: idsOf("function_call_output") };
}

describe("a context that is near its budget", () => {
  it("first loses old tool results, and the turn continues", async () => {
    const requestCount = service.model.requests.length;
    scriptSteps(12, { text: "next", command: "seq 1 1500" }, () => ({ text: "not asked for" }));
    const session = await service.create(TASK, PROFILE);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const compacted = only(events, "turn.compacted");
    assert.ok(compacted.length > 0);
    assert.ok(
      compacted.every(
        ({ how, tokensAfter, tokensBefore }) => how === "offloaded" && tokensAfter < tokensBefore,
      ),
    );
    assert.equal(only(events, "turn.compacting").length, compacted.length);
    const [end] = only(events, "run.completed");
    assert.deepEqual([end?.outcome, end?.usage.modelCalls], ["succeeded", 13]);
    for (const { body, text } of service.model.requests.slice(requestCount)) {
      const { calls, results } = readCalls(body.input);
      assert.deepEqual(calls.toSorted(), results.toSorted(), "every call has its result");
      assert.match(text, /vermilion/, "the task is still in the prompt");
    }
    assert.match(service.model.requests.at(-1)?.text ?? "", /read_tool_result with resultId res_/);
  });

  it("is the reason to name the values of a typed result in the reply, and keeps what the turn began with", async () => {
    const from = service.model.requests.length;
    let calls = 0;
    service.model.respondWith(({ kind, text }) => {
      if (kind === "probe") return { text: "{", finish: "length" };
      if (kind === "structured") return { json: { best: "A" } };
      if (isSummaryRequest(text)) return { text: "In short." };
      if (calls++ === 12) return { text: "A is the best." };
      return {
        text: "finding ".repeat(250),
        toolCalls: [{ name: "run_shell", arguments: { command: "seq 1 1500" } }],
      };
    });
    const outputSchema = {
      type: "object",
      properties: { best: { type: "string" } },
      required: ["best"],
      additionalProperties: false,
    };
    const session = await service.create(TASK, {
      ...PROFILE,
      outputSchema,
      targetUrl: "https://shop.invalid/",
    });
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.ok(only(events, "turn.compacted").some(({ how }) => how === "summarized"));
    const texts = service.model.requests
      .slice(from)
      .filter(({ kind, text }) => kind !== "probe" && !isSummaryRequest(text))
      .map(({ text }) => text);
    const named = texts.map(
      (text) => text.match(/name the value of every field in your reply/g)?.length ?? 0,
    );
    const first = named.indexOf(1);
    assert.ok(first > 1, "not before the compaction");
    assert.deepEqual(new Set(named.slice(first)), new Set([1]), "once in each call after it");
    for (const text of texts) {
      assert.equal(text.match(/Target page: https:\/\/shop\.invalid\//g)?.length, 1);
      assert.match(text, /No person is waiting/);
    }
    assert.deepEqual((await readStatus(service, session.sessionId)).deliverable?.value, { best: "A" });
  });

  it("is summarised by the model, repeatedly, if that is not enough", async () => {
    let summaries = 0;
    scriptSteps(40, { text: "finding ".repeat(250), command: "true" }, () => ({
      text: `Summary number ${++summaries}.`,
    }));
    const session = await service.create(TASK, PROFILE);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const summarized = only(events, "turn.compacted").filter(({ how }) => how === "summarized");
    assert.ok(summarized.length >= 2, `${summarized.length} summaries`);
    assert.ok(summarized.every(({ tokensAfter }) => tokensAfter < BUDGET_TOKENS));
    const [end] = only(events, "run.completed");
    assert.equal(end?.outcome, "succeeded");
    assert.equal(end?.usage.modelCalls, 41 + summaries, "the usage includes the calls for summaries");
    const last = service.model.requests.at(-1)?.text ?? "";
    assert.match(last, /vermilion/, "the task is in the prompt word for word");
    assert.match(last, new RegExp(`Summary number ${summaries}`));
    assert.doesNotMatch(last, /Summary number 1\b/);
  });

  it("reads `compacting` during a summary, and is compacted again if the executor dies", async () => {
    const gate = Promise.withResolvers<void>();
    let summaries = 0;
    scriptSteps(20, { text: "finding ".repeat(250), command: "true" }, () => {
      summaries++;
      return summaries === 1 ? { text: "Lost.", hold: gate.promise } : { text: "Kept." };
    });
    const session = await service.create(TASK, PROFILE);
    const { sessionId, runId } = session;
    await waitUntil(
      async () => (await readStatus(service, sessionId)).turnState === "compacting",
      "compacting",
    );
    // Simulates an executor that takes over the run after a crash.
    await service.container.services.db.update(runs).set({ epoch: sql`epoch + 1` }).where(eq(runs.id, runId));
    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), { status: "ended" });
    gate.resolve();
    const events = await readEvents(service, sessionId);
    const compactions = events.map(({ kind }) => kind).filter((kind) => kind.startsWith("turn.compact"));
    const isOpen = (index: number) => index % 2 === 0;
    assert.deepEqual(
      compactions,
      compactions.map((_kind, index) => (isOpen(index) ? "turn.compacting" : "turn.compacted")),
      "every compaction ends before the next begins",
    );
    assert.equal(compactions.length % 2, 0);
    assert.match(service.model.requests.at(-1)?.text ?? "", /Kept/);
    assert.equal((await readStatus(service, sessionId)).turnState, "idle");
  });

  it("is compacted if the provider refuses it as too large, and the call is repeated", async () => {
    let calls = 0;
    service.model.respondWith(({ text }) => {
      if (isSummaryRequest(text)) return { text: "In short." };
      calls++;
      if (calls === 4) return { status: 400, message: "This model's maximum context length is 3000 tokens." };
      return calls < 4
        ? { text: "more", toolCalls: [{ name: "run_shell", arguments: { command: "seq 1 800" } }] }
        : { text: "Fits now." };
    });
    const session = await service.create(TASK, PROFILE);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "turn.compacted").length, 1);
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
  });

  it("stays compacted in the next turn", async () => {
    scriptSteps(20, { text: "finding ".repeat(250), command: "true" }, () => ({ text: "Carried over." }));
    const session = await service.create(TASK, PROFILE);
    await service.completed(session.statusUrl);
    service.model.respondWith(({ text }) => ({
      text: isSummaryRequest(text) ? "Carried over." : "Still know it.",
    }));
    const response = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      text: "and now?",
    });
    const { statusUrl } = (await response.json()) as { statusUrl: string };
    await service.completed(statusUrl);
    const last = service.model.requests.at(-1)?.text ?? "";
    assert.match(last, /Carried over/);
    assert.doesNotMatch(last, /^1: finding/m);
  });
});
