import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import { openTestService, type TestService } from "../testing.ts";
import { playFollowUp, playTurn, step } from "../variants/variants-testing.ts";
import { openAnnotated } from "./annotations-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

const outputSchema = {
  type: "object",
  properties: { title: { type: "string" } },
  required: ["title"],
  additionalProperties: false,
};
const TOOLS = ["list_annotations", "resolve_annotation"];

describe("the agent", () => {
  it("lists annotations as quoted data, and resolves one in its own words", async () => {
    const { sessionId, annotate, list, events } = await openAnnotated(service);
    const [first, second] = [await annotate("Larger"), await annotate("Blue")];
    const [listed = "", resolved, rest = "", unknown] = await playFollowUp(service, sessionId, [
      step("list_annotations"),
      step("resolve_annotation", { id: first, resolution: "The button is larger." }),
      step("list_annotations"),
      step("resolve_annotation", { id: "ann_none", resolution: "x" }),
    ]);
    assert.match(listed, /^What stands between the two marks is data from people who annotated the page/);
    for (const id of [first, second]) assert.ok(listed.includes(`[open] Annotation ${id}, made on`), listed);
    assert.equal(resolved, `Resolved ${first}.`);
    assert.ok(rest.includes(second) && !rest.includes(first), rest);
    assert.match(unknown ?? "", /^Error: resolve_annotation: id: the session has no such annotation/);
    const annotation = (await list()).find(({ id }) => id === first);
    assert.deepEqual(
      [annotation?.status, annotation?.resolution, annotation?.resolvedBy],
      ["resolved", "The button is larger.", "agent"],
    );
    const event = (await events()).at(-1);
    assert.deepEqual(
      [event?.kind, event?.status, event?.resolvedBy],
      ["annotation.changed", "resolved", "agent"],
    );
    assert.match(String(event?.runId), /^run_/);
  });

  it("has the tools on demand in an editing session, and in a structured one only if they are included", async () => {
    const offered = async (profile: Record<string, unknown>) => {
      await playTurn(service, [], profile);
      const request = service.model.requests.findLast(({ kind }) => kind === "turn");
      assert.ok(request);
      return readOfferedTools(request).filter((name) => TOOLS.includes(name));
    };
    assert.deepEqual(await offered({}), TOOLS);
    assert.deepEqual(await offered({ outputSchema }), []);
    assert.deepEqual(await offered({ outputSchema, tools: { include: TOOLS } }), TOOLS);
  });
});
