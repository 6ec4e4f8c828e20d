import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { elicitations, inboxItems, runs, sealedSecrets, waits } from "#db/schema/index.ts";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { type ScriptedTool, startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { listItems, settle, untilTurnParked } from "./inbox-testing.ts";
import { answer, readQuestions, sayAsPerson } from "./waiting-testing.ts";

const certificate = makeCertificate();
const closing: ToolServer[] = [];
let service: TestService;

before(async () => {
  trustCertificate(certificate);
  service = await openTestService({ SANDBOX: "none" });
});
after(async () => {
  await service.close();
  for (const server of closing) await server.close();
});

const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
const form = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Which deal?",
    requestedSchema: { type: "object", properties: { deal: { type: "string" } }, required: ["deal"] },
  },
};

/** A server of the revision 2026-07-28 whose tool `pay` asks for a deal before it pays. */
async function start(
  pay: Partial<ScriptedTool> = {},
): Promise<{ server: ToolServer; payments: unknown[]; calls: () => number }> {
  const payments: unknown[] = [];
  const server = await startToolServer({
    certificate,
    speaks: "stateless",
    tools: [
      {
        name: "pay",
        answer({ params, input }) {
          const { inputResponses, requestState } = params;
          if (requestState === undefined)
            return {
              resultType: "input_required",
              inputRequests: { deal: form },
              requestState: "state-of-the-server",
            };
          payments.push(input);
          return text(inputResponses);
        },
        ...pay,
      },
    ],
  });
  closing.push(server);
  return { server, payments, calls: () => server.messages("tools/call").length };
}

/** Makes the model call `pay` once in each turn with the word "pay". */
const callPay = (to: TestService) =>
  to.model.respondWith(({ userText, toolResults }) =>
    userText.includes("pay") && toolResults.length === 0
      ? { toolCalls: [{ name: "mcp_crm__pay", arguments: { sum: 7 } }] }
      : { text: "Done." },
  );

/** Starts a session, and posts a message as a person, whose turn calls `pay` and waits for the answer. */
async function startAsked(to: TestService, url: string, more: Record<string, unknown> = {}) {
  callPay(to);
  const session = await to.create("hello", { mcpServers: { crm: { url } }, ...more });
  await to.completed(session.statusUrl);
  const turn = await sayAsPerson(to, session, { text: "pay" });
  await untilTurnParked(to, session);
  const [question] = await readQuestions(to, session);
  const [item] = await listItems(to, session, "?state=open");
  assert.ok(question && item);
  return { ...session, turn, question, item };
}

const resultsOf = async (from: TestService, { sessionId }: { sessionId: string }) =>
  only(await readEvents(from, sessionId), "tool.result");

it("a form of a tool server is an item of the inbox, for which the turn is parked", async () => {
  const { server, payments, calls } = await start();
  const session = await startAsked(service, server.url);
  assert.equal(session.item.kind, "question");
  assert.equal(session.item.body, "The tool server crm asks: Which deal?");
  assert.deepEqual(Object.keys(session.item.form?.properties ?? {}), ["deal"]);
  assert.equal(await answer(service, session, session.question.id, { deal: "B" }), 202);
  await service.completed(session.turn.statusUrl);
  const results = await resultsOf(service, session);
  assert.deepEqual(
    results.map(({ state }) => state),
    ["succeeded"],
  );
  assert.match(results[0]?.preview ?? "", /"content":\{"deal":"B"\}/);
  assert.deepEqual([payments, calls()], [[{ sum: 7 }], 2]);
  const events = await readEvents(service, session.sessionId);
  assert.equal(only(events, "run.waiting").length, 1);
  assert.equal(only(events, "run.resumed").length, 1);
  const questions = await service.call("GET", `/api/sessions/${session.sessionId}/elicitations`);
  const { db } = service.container.services;
  const secrets = await db.select().from(sealedSecrets).where(eq(sealedSecrets.sessionId, session.sessionId));
  assert.deepEqual(secrets, [], "it is removed when the call has ended");
  const seen = JSON.stringify([events, await questions.text(), service.model.requests]);
  assert.ok(!seen.includes("state-of-the-server"), "the state is for the server only");
});

it("it is answered in the inbox, by link, and declined; an answer that does not fit leaves it open", async () => {
  const { server } = await start();
  for (const [settleIt, expected] of [
    [
      async (session: { sessionId: string; item: { id: string } }) => {
        const { status } = await settle(service, session, session.item.id, { answer: { deal: 7 } });
        assert.equal(status, 400);
        return (await settle(service, session, session.item.id, { answer: { deal: "C" } })).status;
      },
      /"content":\{"deal":"C"\}/,
    ],
    [
      async (session: { sessionId: string; item: { id: string } }) =>
        (await settle(service, session, session.item.id, { decline: true })).status,
      /"action":"decline"/,
    ],
    [
      async ({ item }: { item: { answerUrl?: string } }) => {
        const body = new URLSearchParams({ do: "answer", "field.deal": "D" });
        const posted = new Request(item.answerUrl ?? "", { method: "POST", body });
        return (await service.container.mounted.serveAnswerPage(posted)).status;
      },
      /"content":\{"deal":"D"\}/,
    ],
  ] as const) {
    const session = await startAsked(service, server.url);
    assert.equal(await settleIt(session), 200);
    await service.completed(session.turn.statusUrl);
    assert.match((await resultsOf(service, session))[0]?.preview ?? "", expected);
  }
});

it("a program's turn declines it with the known sentence, and asks if the session has opted in", async () => {
  const { server, payments } = await start();
  callPay(service);
  const more = { mcpServers: { crm: { url: server.url } } };
  const silent = await service.create("pay", more);
  await service.completed(silent.statusUrl);
  const [result] = await resultsOf(service, silent);
  assert.match(result?.preview ?? "", /"action":"decline"/);
  assert.match(
    result?.preview ?? "",
    /No person can answer: this turn was not started by a person\. Do not wait and do not ask again: continue/,
  );
  assert.deepEqual(await listItems(service, silent), []);
  assert.equal(payments.length, 1);

  const asking = await service.create("pay", { ...more, interaction: { mode: "ask", timeoutSeconds: 600 } });
  await untilTurnParked(service, asking);
  const [item] = await listItems(service, asking, "?state=open");
  const openMs = Date.parse(item?.expiresAt ?? "") - Date.parse(item?.createdAt ?? "");
  assert.equal(Math.round(openMs / 1_000), 600);
  await endOverdueWaits(service.container.services, new Date(Date.now() + 700_000));
  await service.completed(asking.statusUrl);
  assert.match((await resultsOf(service, asking))[0]?.preview ?? "", /"action":"cancel"/);
  assert.equal((await listItems(service, asking))[0]?.state, "expired");
});

it("a message of a person, and a stop, withdraw it", async () => {
  const { server } = await start();
  const steered = await startAsked(service, server.url);
  await sayAsPerson(service, steered, { text: "never mind", mode: "steer" });
  await service.completed(steered.turn.statusUrl);
  assert.match((await resultsOf(service, steered))[0]?.preview ?? "", /"action":"cancel"/);
  assert.equal((await listItems(service, steered))[0]?.state, "withdrawn");
  const stopped = await startAsked(service, server.url);
  await service.call("POST", `/api/sessions/${stopped.sessionId}/agent/cancel`);
  await service.completed(stopped.turn.statusUrl);
  assert.equal((await listItems(service, stopped))[0]?.state, "withdrawn");
  assert.equal((await resultsOf(service, stopped))[0]?.state, "failed");
});

it("it is answered after three days and a restart; the call continues where it was", async () => {
  const { server, payments, calls } = await start();
  const first = await openTestService({ SANDBOX: "none" });
  const session = await startAsked(first, server.url);
  const { db } = first.container.services;
  const back = (column: unknown) => sql`${column} - interval '3 days'`;
  const { runId } = session.turn;
  await db
    .update(elicitations)
    .set({ expiresAt: back(elicitations.expiresAt) })
    .where(eq(elicitations.runId, runId));
  await db
    .update(inboxItems)
    .set({ expiresAt: back(inboxItems.expiresAt) })
    .where(eq(inboxItems.runId, runId));
  await db
    .update(waits)
    .set({ deadlineAt: back(waits.deadlineAt) })
    .where(eq(waits.runId, runId));
  await db
    .update(runs)
    .set({ createdAt: back(runs.createdAt), parkedAt: back(runs.parkedAt) })
    .where(eq(runs.id, runId));
  await first.close({ keepFiles: true });

  const second = await openTestService({ SANDBOX: "none" }, first.dataDir);
  callPay(second);
  assert.equal(calls(), 1);
  assert.equal(await endOverdueWaits(second.container.services), 0);
  assert.equal(await answer(second, session, session.question.id, { deal: "B" }), 202);
  await second.completed(session.turn.statusUrl);
  const [result, ...others] = await resultsOf(second, session);
  assert.deepEqual([result?.state, others], ["succeeded", []]);
  assert.match(result?.preview ?? "", /"content":\{"deal":"B"\}/);
  assert.deepEqual([payments, calls()], [[{ sum: 7 }], 2]);
  assert.equal(server.messages("tools/call")[1]?.params?.requestState, "state-of-the-server");
  assert.equal(server.messages("server/discover").length, 1);
  assert.equal(server.messages("tools/list").length, 2, "one listing for each turn");
  await second.close();
});

it("a call that ends with the process after the answer is unknown, or repeated if its tool allows it", async () => {
  for (const [annotations, state, count] of [
    [undefined, "unknown", 2],
    [{ idempotentHint: true }, "succeeded", 3],
  ] as const) {
    let isHanging = true;
    const { server, calls } = await start({
      ...(annotations && { annotations }),
      answer({ params }) {
        const { inputResponses, requestState } = params;
        if (requestState === undefined)
          return { resultType: "input_required", inputRequests: { deal: form }, requestState: "s" };
        return isHanging ? undefined : text(inputResponses);
      },
    });
    const first = await openTestService({ SANDBOX: "none" });
    const session = await startAsked(first, server.url);
    assert.equal(await answer(first, session, session.question.id, { deal: "B" }), 202);
    await waitUntil(() => calls() === 2, "the call continues");
    await first.close({ keepFiles: true });
    isHanging = false;
    const second = await openTestService({ SANDBOX: "none" }, first.dataDir);
    callPay(second);
    await second.completed(session.turn.statusUrl);
    assert.deepEqual(
      (await resultsOf(second, session)).map((result) => result.state),
      [state],
    );
    assert.equal(calls(), count);
    assert.equal((await listItems(second, session))[0]?.state, "answered");
    await second.close();
  }
});

it("a call that needs approval, too, is asked first, and runs once", async () => {
  const { server, payments } = await start();
  callPay(service);
  const session = await service.create("hello", {
    mcpServers: { crm: { url: server.url } },
    tools: { approve: ["mcp_crm__*"] },
  });
  await service.completed(session.statusUrl);
  const turn = await sayAsPerson(service, session, { text: "pay" });
  await untilTurnParked(service, session);
  const [approval] = await listItems(service, session, "?state=open");
  assert.equal(approval?.kind, "approval");
  assert.equal((await settle(service, session, approval?.id ?? "", { approve: true })).status, 200);
  await waitUntil(
    async () => (await listItems(service, session, "?state=open"))[0]?.kind === "question",
    "the server asks",
  );
  const [question] = await listItems(service, session, "?state=open");
  assert.equal((await settle(service, session, question?.id ?? "", { answer: { deal: "B" } })).status, 200);
  await service.completed(turn.statusUrl);
  assert.deepEqual(
    (await resultsOf(service, session)).map(({ state }) => state),
    ["succeeded"],
  );
  assert.deepEqual(payments, [{ sum: 7 }]);
});
