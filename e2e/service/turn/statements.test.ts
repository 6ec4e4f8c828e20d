import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client as NeonClient } from "@neondatabase/serverless";
import pg from "pg";
import { armFaults } from "#lib/faults/fault-point.ts";
import { openTestService, say, type TestService } from "../testing.ts";

// Needs a process of its own: it watches the database clients of its process.

let service: TestService;
let statements: string[] = [];

before(async () => {
  watch(pg.Client.prototype);
  watch(NeonClient.prototype);
  service = await openTestService();
});
after(() => service.close());

/** Records every statement that clients with this prototype send to the database. */
function watch(prototype: { query: unknown }) {
  const query = prototype.query as (this: unknown, statement: unknown, ...rest: unknown[]) => unknown;
  prototype.query = function (this: unknown, statement: unknown, ...rest: unknown[]) {
    const text = typeof statement === "string" ? statement : (statement as { text?: string }).text;
    if (text !== undefined) statements.push(text.replaceAll(/\s+/g, " "));
    return query.call(this, statement, ...rest);
  };
}

/**
 * Lists the tables that were read since `statements` was reset. The statement that loads a run does not count, because
 * it only checks whether the other tables have rows of the session.
 */
const tablesRead = (): string[] =>
  TABLES.filter((table) =>
    statements.some((text) => text.includes(` from "${table}"`) && !text.includes(' from "runs" inner join')),
  );

const TABLES = ["reports", "landing_pages", "variants", "plans", "requirements", "imports", "sessions"];

const OUTPUT_SCHEMA = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

describe("the statements of turns and polls", () => {
  it("do not read reports, pages and variants in a structured session that cannot have them", async () => {
    statements = [];
    service.model.enqueue(say("Looked."), { text: JSON.stringify({ ok: true }) });
    const session = await service.create("Look", { outputSchema: OUTPUT_SCHEMA });
    await service.completed(session.statusUrl);
    assert.deepEqual(tablesRead(), ["sessions"]);
    statements = [];
    const status = await service.read(`/api/sessions/${session.sessionId}/agent/status`);
    assert.deepEqual([status.variants, status.pages, status.reports], [[], [], []]);
    assert.deepEqual(tablesRead(), ["sessions"]);
  });

  it("do not read reports and pages in an editing session without the tools for them", async () => {
    service.model.enqueue(say("Hello."));
    const exclude = ["deploy_landing_page", "publish_qa_report"];
    const session = await service.create("Hello", { tools: { exclude } });
    await service.completed(session.statusUrl);
    statements = [];
    const status = await service.read(`/api/sessions/${session.sessionId}/agent/status`);
    assert.deepEqual([status.pages, status.reports], [[], []]);
    assert.deepEqual(tablesRead(), ["variants", "sessions"]);
  });

  it("read the plan, requirements and imports only if the session has them", async () => {
    service.model.enqueue(say("Hello."));
    const session = await service.create("Hello");
    await service.completed(session.statusUrl);
    const path = `/api/sessions/${session.sessionId}`;
    const read = async () => {
      statements = [];
      service.model.enqueue(say("Again."));
      const answer = await service.call("POST", `${path}/agent/messages`, { text: "Again" });
      await service.completed(((await answer.json()) as { statusUrl: string }).statusUrl);
      return tablesRead().filter((table) => ["plans", "requirements", "imports"].includes(table));
    };
    assert.deepEqual(await read(), []);
    await service.call("POST", `${path}/requirements`, { requirements: [{ text: "The button reads Pay" }] });
    assert.deepEqual(await read(), ["requirements"]);
    assert.match(JSON.stringify(service.model.requests.at(-1)), /The button reads Pay/);
  });

  it("of a turn do not increase with the session's variants", async () => {
    service.model.enqueue(say("Hello."));
    const session = await service.create("Hello");
    await service.completed(session.statusUrl);
    const path = `/api/sessions/${session.sessionId}`;
    const importVariant = async (key: string) => {
      const changes = [{ id: "c1", op: "setText", selector: "h1", text: key }];
      const document = { pages: [{ url: "https://shop.example/", match: "path", changes, css: "", js: "" }] };
      const body = { format: "json", document };
      assert.equal((await service.call("POST", `${path}/variants/${key}/import`, body)).status, 201);
    };
    const countReads = async () => {
      statements = [];
      service.model.enqueue(say("Again."));
      const answer = await service.call("POST", `${path}/agent/messages`, { text: "Again" });
      await service.completed(((await answer.json()) as { statusUrl: string }).statusUrl);
      return statements.filter((text) => text.includes('"variant_revisions"')).length;
    };
    await importVariant("one");
    const reads = await countReads();
    assert.match(JSON.stringify(service.model.requests.at(-1)), /Variant one has revision 1/);
    for (const key of ["two", "three", "four"]) await importVariant(key);
    assert.equal(await countReads(), reads);
    assert.match(JSON.stringify(service.model.requests.at(-1)), /Variant four has revision 1/);
  });

  it("an answer with a call that reads the store is recorded with its result, in one statement", async () => {
    const toolCalls = [{ name: "list_evidence", arguments: {} }];
    service.model.enqueue({ toolCalls }, say("None."));
    statements = [];
    const { statusUrl } = await service.create("List the evidence");
    await service.completed(statusUrl);
    const writes = statements.filter((text) => text.includes('insert into "steps"'));
    // The start of the run, the answer with the tool result, and the end of the run take one statement each.
    assert.equal(writes.length, 3);
  });

  it("such an answer is recorded alone if its call cannot be made, and the model is not called again for it", async () => {
    const toolCalls = [{ name: "list_evidence", arguments: {} }];
    service.model.enqueue({ toolCalls }, say("None."));
    const calls = service.model.requests.length;
    armFaults({ point: "tool-begun", nth: 1, action: "throw", afterMs: 0 });
    const { statusUrl } = await service.create("List the evidence");
    await service.completed(statusUrl);
    armFaults(undefined);
    assert.equal(service.model.requests.length - calls, 2);
  });

  it("are as many for a turn with a budget as for one without", async () => {
    const count = async (more: Record<string, unknown>) => {
      const toolCalls = [{ name: "search_transcript", arguments: { text: "steps" } }];
      service.model.enqueue({ toolCalls }, { toolCalls }, { toolCalls }, say("Done."));
      statements = [];
      const session = await service.create("Count the steps", more);
      await service.completed(session.statusUrl);
      // Counts the statements that read or write spent amounts.
      return statements.filter((text) => /spent_tokens|owner_spend/.test(text)).length;
    };
    const plain = await count({});
    assert.ok(plain >= 5, `${plain} statements`);
    assert.equal(await count({ budget: { tokens: 1_000_000, minutes: 10 } }), plain);
  });
});
