import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { openTestService } from "../testing.ts";

const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };

/** Plays a structured turn with a compaction and a correction. @returns its model calls with their output limits. */
async function play(variables: Record<string, string>) {
  const service = await openTestService({
    SANDBOX: "unconfined",
    AGENT_CONTEXT_TOKENS: "12000",
    ...variables,
  });
  const usage = { inputTokens: 0, outputTokens: 10 };
  let turns = 0;
  let structured = 0;
  service.model.respondWith(({ kind, text }) => {
    if (kind === "probe") return { json: {}, finish: "length" };
    if (text.includes(SUMMARY_REQUEST)) return { text: "In short.", usage };
    if (kind === "structured") return { json: structured++ === 0 ? {} : { title: "Shop" }, usage };
    const call = { name: "run_shell", arguments: { command: "true" } };
    return turns++ < 12
      ? { text: "finding ".repeat(600), toolCalls: [call], usage }
      : { text: "Done.", usage };
  });
  try {
    const session = await service.create("Find the title", { outputSchema });
    await service.completed(session.statusUrl);
    const kindOf = ({ kind, text }: RecordedRequest) =>
      text.includes(SUMMARY_REQUEST) && kind === "turn" ? "summary" : kind;
    return service.model.requests.map((request) => {
      const { max_output_tokens, max_tokens, max_completion_tokens } = request.body;
      const words = Number(/At most (\d+) words/.exec(request.text)?.[1]);
      return {
        kind: kindOf(request),
        limit: max_output_tokens ?? max_tokens ?? max_completion_tokens,
        words,
      };
    });
  } finally {
    await service.close();
  }
}

const KINDS = ["probe", "turn", "summary", "structured"];

for (const api of ["responses", "chat"])
  describe(`AGENT_MAX_OUTPUT_TOKENS (${api})`, () => {
    it("is sent with every call except the probe, and limits the length of summaries", async () => {
      const calls = await play({ AGENT_MODEL_API: api, AGENT_MAX_OUTPUT_TOKENS: "500" });
      for (const kind of KINDS) {
        const limits = new Set(calls.flatMap((call) => (call.kind === kind ? [call.limit] : [])));
        assert.deepEqual([...limits], [kind === "probe" ? 16 : 500], kind);
      }
      for (const { kind, words } of calls) if (kind === "summary") assert.ok(words <= 300, `${words} words`);
    });

    it("is not sent if it is unset", async () => {
      const calls = await play({ AGENT_MODEL_API: api });
      for (const kind of KINDS) {
        const limits = new Set(calls.flatMap((call) => (call.kind === kind ? [call.limit] : [])));
        assert.deepEqual([...limits], [kind === "probe" ? 16 : undefined], kind);
      }
    });
  });
