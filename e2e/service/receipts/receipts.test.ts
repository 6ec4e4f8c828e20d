import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { outbox, receipts } from "#db/schema/index.ts";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import type { Receipt } from "#lib/receipts/find/receipt.ts";
import { requeueLostReceipts } from "#lib/receipts/receipts-store.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

const PAGE = `<!doctype html><title>Plans</title><main><h1>Plans</h1><table>
  <tr><th>Plan<th>Price<th>From</tr>
  <tr><td>Basic<td>€&nbsp;9,99<td>1 March 2026</tr>
  <tr><td>Professional<td>€ 1.219,50<td>2 April 2026</tr>
  <tr><td>Enterprise<td>€ 4.900,25<td>3 May 2027</tr>
  <tr><td>Education<td>€ 3,49<td>4 June 2027</tr></table>
  <form><label>Code <input type=password value=hunter2-secret></label></form></main>`;

const certificate = makeCertificate();
const closing: ToolServer[] = [];
const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
let site: Awaited<ReturnType<typeof startTestSite>>;
let service: TestService;

before(async () => {
  trustCertificate(certificate);
  site = await startTestSite((_, response) =>
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE),
  );
  service = await openTestService({ BROWSER_EXECUTABLE_PATH, SANDBOX: "unconfined" });
});
after(async () => {
  await service.close();
  await site.close();
  for (const server of closing) await server.close();
});

type List = { runId: string | null; state: "none" | "pending" | "ready"; data: Receipt[]; nextCursor: null };

const outputSchema = {
  type: "object",
  properties: {
    kind: { enum: ["pricing", "other"] },
    plans: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, price: { type: "number" }, from: { type: "string" } },
      },
    },
  },
};

/** Plays a structured turn, and waits for the receipts of its result. */
async function play(task: string, value: object, more: Record<string, unknown> = {}, work: Step[] = []) {
  const queue = [...work];
  service.model.respondWith((request) => {
    if (!request.text.includes(task)) return undefined;
    if (request.kind === "structured") return { json: value };
    return (request.kind === "turn" && queue.shift()) || { text: "Done." };
  });
  const session = await service.create(task, { outputSchema, ...more });
  await service.completed(session.statusUrl);
  return { session, list: await readList(session.sessionId) };
}

async function readList(sessionId: string): Promise<List> {
  let list: List | undefined;
  await waitUntil(async () => {
    list = await service.read<List>(`/api/sessions/${sessionId}/deliverable/receipts`);
    return list.state === "ready";
  }, "the receipts are made");
  assert.ok(list);
  return list;
}

const statuses = ({ data }: List) => Object.fromEntries(data.map(({ pointer, status }) => [pointer, status]));

describe("the receipts of a structured result", () => {
  it("say where each value stands on the page, and which value stands nowhere or in another row", async () => {
    const value = {
      kind: "pricing",
      plans: [
        { name: "Basic", price: 9.99, from: "2026-03-01" },
        { name: "Professional", price: 1219.5, from: "2027-06-04" },
        { name: "Enterprise", price: 4900.75, from: "2027-05-03" },
      ],
    };
    const { session, list } = await play("which plans", value, { targetUrl: `${site.origin}/plans` });
    assert.deepEqual(statuses(list), {
      "/plans/0/name": "seen",
      "/plans/0/price": "seen",
      "/plans/0/from": "seen",
      "/plans/1/name": "seen",
      "/plans/1/price": "seen",
      "/plans/1/from": "elsewhere",
      "/plans/2/name": "seen",
      "/plans/2/price": "unseen",
      "/plans/2/from": "seen",
    });
    assert.equal(list.runId, session.runId);
    const [source] = list.data.find(({ pointer }) => pointer === "/plans/0/price")?.sources ?? [];
    assert.equal(source?.quote, "Basic · € 9,99 · 1 March 2026");
    assert.equal(source?.url, `${site.origin}/plans`);
    const stored = await service.container.services.log.read(session.sessionId, { after: 0, limit: 1_000 });
    const events = stored.map(({ body }) => JSON.parse(body) as DomainEvent);
    const [made] = only(events, "deliverable.receipts");
    assert.deepEqual(made?.counts, { seen: 7, elsewhere: 1, derived: 0, weak: 0, unseen: 1, unchecked: 0 });
    assert.deepEqual([made.requestId, made.runId, made.resultRunId], [null, null, session.runId]);
    const completed = only(events, "run.completed")[0];
    assert.ok(completed && made.seq > completed.seq);
    const started = only(events, "run.started")[0];
    assert.equal(source?.seq, started?.seq, "the first look belongs to the start of the run");
  });

  it("leave the stream of the request as it is", async () => {
    const { session } = await play("stream of it", { kind: "other" });
    const response = await service.call("GET", session.streamUrl);
    const text = await response.text();
    assert.match(text, /event: run\.completed/);
    assert.doesNotMatch(text, /deliverable\.receipts/);
  });

  it("use the stored results of tool servers, whole, and not what the agent wrote itself", async () => {
    const orders = Array.from({ length: 400 }, (_, index) => ({
      id: `A-${4_000 + index}`,
      total: `${index + 1_250}.75 USD`,
    }));
    const server = await startToolServer({
      certificate,
      tools: [
        { name: "orders", call: () => ({ content: [{ type: "text", text: JSON.stringify(orders) }] }) },
      ],
    });
    closing.push(server);
    const { session, list } = await play(
      "read the orders",
      // The model sees only the beginning and the end of such a long result.
      { id: "A-4211", total: 1461.75, city: "Ghent", sum: 2501.5, wrong: 9999.5 },
      {
        outputSchema: {
          type: "object",
          properties: {
            id: { type: "string" },
            total: { type: "number" },
            city: { type: "string" },
            sum: { type: "number" },
            wrong: { type: "number" },
          },
        },
        mcpServers: { crm: { url: server.url } },
        tools: { include: ["cite", "run_shell"] },
      },
      [
        { toolCalls: [{ name: "mcp_crm__orders", arguments: {} }] },
        { toolCalls: [{ name: "run_shell", arguments: { command: "echo Ghent" } }] },
        {
          toolCalls: [
            { name: "cite", arguments: { value: 2501.5, from: ["1250.75 USD", "A-4000"], how: "twice" } },
          ],
        },
        { toolCalls: [{ name: "cite", arguments: { value: 9999.5, from: ["8888.25 USD"] } }] },
      ],
    );
    assert.deepEqual(statuses(list), {
      "/id": "seen",
      "/total": "seen",
      "/city": "unseen",
      "/sum": "derived",
      "/wrong": "unseen",
    });
    const results = only(await readEvents(service, session.sessionId), "tool.result");
    const id = list.data.find(({ pointer }) => pointer === "/id");
    assert.deepEqual(id?.sources, [
      {
        seq: results.find(({ toolName }) => toolName === "mcp_crm__orders")?.seq,
        url: null,
        quote: "id · A-4211",
      },
    ]);
    assert.equal(list.data.find(({ pointer }) => pointer === "/sum")?.sources.length, 2);
  });

  it("do not quote what is masked", async () => {
    const { list } = await play(
      "what is the code",
      { plans: [{ name: "hunter2-secret" }] },
      { targetUrl: `${site.origin}/plans` },
    );
    assert.deepEqual(statuses(list), { "/plans/0/name": "unseen" });
    assert.doesNotMatch(JSON.stringify(list), /hunter2-secret/);
  });

  it("are made by another job if the first one was lost, also after the process ended", async () => {
    const { session } = await play("lost job", { plans: [{ name: "nowhere at all" }] });
    const { db, jobs } = service.container.services;
    // A job that is not marked as sent is not lost.
    await waitUntil(async () => {
      const [job] = await db
        .select()
        .from(outbox)
        .where(eq(outbox.id, `${session.runId}:receipts:1`));
      return job?.sentAt !== null;
    }, "the first job is sent");
    // As after a kill between `run.completed` and the receipts: the row is there, the job is gone.
    await db
      .update(receipts)
      .set({ list: null, madeAt: null, requestedAt: sql`now() - interval '1 hour'` })
      .where(eq(receipts.runId, session.runId));
    const lost = await requeueLostReceipts(db, 60_000);
    assert.deepEqual(
      lost.map(({ id }) => id),
      [`${session.runId}:receipts:2`],
    );
    assert.deepEqual(await requeueLostReceipts(db, 60_000), [], "a job that was just requested is not lost");
    assert.equal(
      (
        await db
          .select()
          .from(outbox)
          .where(eq(outbox.id, lost[0]?.id ?? ""))
      ).length,
      1,
    );
    jobs.sendSoon(lost);
    assert.deepEqual(statuses(await readList(session.sessionId)), { "/plans/0/name": "unseen" });
  });

  it("are empty without a ready result, and belong to their session", async () => {
    const plain = await service.create("no schema at all");
    await service.completed(plain.statusUrl);
    const none = await service.read<List>(`/api/sessions/${plain.sessionId}/deliverable/receipts`);
    assert.deepEqual([none.state, none.runId, none.data], ["none", null, []]);
    const { session } = await play("of its own", { kind: "other" });
    const other = await service.call(
      "GET",
      `/api/sessions/${plain.sessionId}/deliverable/receipts?runId=${session.runId}`,
    );
    assert.equal(other.status, 404);
  });
});
