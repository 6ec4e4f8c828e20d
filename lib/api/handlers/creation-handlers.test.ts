import assert from "node:assert/strict";
import { after, describe, it, test } from "node:test";
import { eq } from "drizzle-orm";
import { messages, outbox, requests, runs, sealedSecrets, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createHttpRefusal } from "#lib/callback/endpoint/refuse-http.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { silentSecurityLog } from "#lib/security-log/testing.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import { createJobSender } from "#lib/session/jobs/job-sender.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { readRun } from "#lib/turn/record/turn-store.ts";
import { createSessionSchema } from "../contract/schemas/create-session.ts";
import { type CreationServices, createSession, startSession } from "./creation-handlers.ts";

const { db, close } = await openTestDatabase();
after(close);

const KEY = new Uint8Array(32);
const sealer = createSealer(KEY);
const sent: string[] = [];
const flagQueries: (string | null)[] = [];
const hosts: Record<string, string> = { "public.example": "93.184.216.34", "inside.example": "10.0.0.7" };
const services: CreationServices = {
  db,
  sealer,
  tools: [],
  skills: { store: async () => [] },
  securityLog: silentSecurityLog,
  shares: createShareLinks(db, KEY),
  freshRuns: createFreshRuns(),
  jobs: createJobSender({ db, send: async (job) => void sent.push(job.id), logger: { warn() {} } }),
  schemas: { admitSchema: async () => ({ ok: true }) },
  rule: createAddressRule({
    allow: [],
    lookup: async (name) => (hosts[name] ? [{ address: hosts[name], family: 4 }] : []),
  }),
  callbackRules: { secretLengthMin: 0, refuseHttp: () => undefined },
  async readSubAgentFlag(userId) {
    flagQueries.push(userId);
    return userId === "invited";
  },
  quota: { admit: async () => ({ ok: true, end() {} }), forget() {} },
  settings: {
    delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
    model: { id: "scripted", label: "scripted", isDemo: false, isPriced: false },
  },
};

const hello = [{ role: "user", parts: [{ type: "text", text: "Hello" }] }];
async function create(
  fields: Record<string, unknown> = {},
  testServices: CreationServices = services,
  start = createSession,
) {
  const body = { messages: hello, ...fields };
  const caller = { keyId: "key", ownerId: "owner", scopes: [] };
  const call = { body: createSessionSchema.parse(body), hashBody: () => hashBody(body), caller };
  const answer = await start(testServices, call);
  assert.ok(!(answer instanceof Response));
  return answer;
}
async function createRow(fields: Record<string, unknown>, start = createSession) {
  const answer = await create(fields, services, start);
  assert.ok(answer.ok, JSON.stringify(answer));
  const { sessionId } = answer.body as { sessionId: string };
  const [row] = await db.select().from(sessions).where(eq(sessions.id, sessionId));
  assert.ok(row);
  return row;
}

/** Waits until a condition holds. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("the condition did not hold within 5 s");
}

test("the fresh run that the executor gets without a query equals the stored rows", async () => {
  const answer = await create({
    messages: [
      { role: "user", parts: [{ type: "text", text: "Look \u{1f600}\u00e9" }] },
      { role: "assistant", parts: [{ type: "text", text: "At what?" }] },
      {
        role: "user",
        parts: [
          { type: "text", text: "At" },
          { type: "text", text: "this" },
        ],
      },
    ],
    userId: "anna",
    metadata: { order: 7 },
    targetUrl: "https://public.example/a",
    targetPageUrls: ["https://public.example/b"],
    outputSchema: {
      type: "object",
      properties: { 2: { type: "string" }, 1: { const: 1e21 } },
      required: ["1"],
    },
    tools: { exclude: ["run_shell"], externalTurnExclude: ["fetch_url"] },
    systemPrompt: "Be brief.",
    mcpServers: { files: { url: "https://public.example/mcp", headers: { authorization: "secret" } } },
    callback: { url: "https://public.example/hook", events: ["run.completed"], secret: "shh" },
  });
  assert.ok(answer.ok);
  const { runId } = answer.body as { runId: string };
  const hint = await services.freshRuns.consume(runId);
  const read = await readRun(db, runId);
  assert.ok(hint && hint !== "absent" && read);
  assert.deepEqual(hint.session, read.session);
  assert.deepEqual(hint.messages, read.requestMessages);
  assert.deepEqual([hint.requestId, hint.origin], [read.run.requestId, read.run.origin]);
  assert.equal(services.freshRuns.consume(runId), undefined);
});

describe("the executor of a run that begins while its session is being stored", () => {
  /** Creates services whose engine plans each job. `begun` has the runs that were begun. */
  function createPlanning() {
    const begun: string[] = [];
    let settled = 0;
    const plan = (job: Job) => ({
      event: JSON.stringify(job),
      runId: crypto.randomUUID(),
      functionId: "run-turn",
      executorId: "exe",
      play: () => void begun.push((job.data as { runId: string }).runId),
      settle: () => void settled++,
    });
    const sender = { db, send: async () => assert.fail("sent"), intake: { plan }, logger: { warn() {} } };
    const planning = { ...services, freshRuns: createFreshRuns(), jobs: createJobSender(sender) };
    return { planning, begun, countSettled: () => settled };
  }

  /** Creates a database that answers the statement that stores a session. */
  const answerWith = (answer: () => Promise<unknown>) =>
    new Proxy(db, {
      get: (target, name, receiver) => (name === "execute" ? answer : Reflect.get(target, name, receiver)),
    });

  it("gets the stored run", async () => {
    const { planning, begun, countSettled } = createPlanning();
    const answer = await create({}, planning);
    assert.ok(answer.ok);
    const { sessionId, runId } = answer.body as { sessionId: string; runId: string };
    const fresh = await planning.freshRuns.consume(runId);
    assert.ok(fresh && fresh !== "absent");
    assert.equal(fresh.session.id, sessionId);
    assert.deepEqual(begun, [runId]);
    assert.equal(countSettled(), 1);
  });

  it("learns that nothing was stored", async () => {
    const { planning, begun, countSettled } = createPlanning();
    const unstored = answerWith(async () => ({ rows: [] }));
    await assert.rejects(create({}, { ...planning, db: unstored }), /deleted between/);
    await until(() => begun.length === 1);
    assert.equal(await planning.freshRuns.consume(begun[0] ?? ""), "absent");
    assert.equal(countSettled(), 1);
  });

  it("gets the error of a statement whose outcome is unknown, and the engine looks for the run later", async () => {
    const { planning, begun, countSettled } = createPlanning();
    const lost = answerWith(() => Promise.reject(new Error("connection lost")));
    await assert.rejects(create({}, { ...planning, db: lost }), /connection lost/);
    await until(() => begun.length === 1);
    await assert.rejects(async () => planning.freshRuns.consume(begun[0] ?? ""), /connection lost/);
    assert.equal(countSettled(), 0);
  });
});

test("a caller with too many schemas in the queue of the compiler gets 429", async () => {
  const error = "outputSchema: 32 schemas of this API key are waiting";
  const schemas = { admitSchema: async () => ({ ok: false, error, isBusy: true }) as const };
  const answer = await create({ outputSchema: { type: "object" } }, { ...services, schemas });
  assert.deepEqual(answer, { ok: false, code: "rate_limited", error, headers: { "Retry-After": "5" } });
});

describe("creating a session", () => {
  test("writes session, transcript, request, run and the run's job in one transaction", async () => {
    const row = await createRow({});
    const where = { request: eq(requests.sessionId, row.id), run: eq(runs.sessionId, row.id) };
    const [request] = await db.select().from(requests).where(where.request);
    const [run] = await db.select().from(runs).where(where.run);
    const [message] = await db.select().from(messages).where(eq(messages.sessionId, row.id));
    assert.deepEqual([run?.state, run?.attempt, run?.origin], ["pending", 1, "external"]);
    assert.deepEqual([message?.seq, message?.requestId], [1, request?.id]);
    const readJobs = async () =>
      (await db.select().from(outbox)).filter(({ id }) => id.includes(String(run?.id)));
    assert.equal((await readJobs()).length, 1);
    // The job of the first turn is sent only after the response.
    await until(async () => (await readJobs())[0]?.sentAt != null);
    assert.ok(sent.includes((await readJobs())[0]?.id ?? ""));
  });

  test("stores the caller's settings, with the defaults of the specification", async () => {
    const plain = await createRow({});
    assert.deepEqual(
      [plain.source, plain.subAgents, plain.capabilities, plain.callbackUrl, plain.outputSchema],
      ["api", false, { browser: true, sandbox: true }, null, null],
    );
    const metadata = { ticket: 1, nested: [{ a: null }] };
    const full = await createRow({
      metadata,
      userId: "u",
      source: "slack",
      systemPrompt: "Be brief.",
      targetUrl: "https://a.example/x",
      targetPageUrls: ["https://a.example/y"],
      outputSchema: { type: "object" },
      tools: { exclude: ["run_shell"] },
      delegation: { maxLiveChildren: 2 },
      callback: { url: "https://public.example/hook", events: ["run.completed"] },
    });
    assert.deepEqual(full.metadata, metadata);
    assert.deepEqual(full.tools, { include: [], exclude: ["run_shell"], externalTurnExclude: [] });
    assert.deepEqual([full.maxLiveChildren, full.maxLiveBrowsers], [2, 2]);
    assert.deepEqual(
      [full.callbackUrl, full.callbackEvents],
      ["https://public.example/hook", ["run.completed"]],
    );
    assert.deepEqual([full.userId, full.source, full.systemPrompt], ["u", "slack", "Be brief."]);
  });

  test("turns the browser off with the sandbox", async () => {
    const row = await createRow({ capabilities: { sandbox: false } });
    assert.deepEqual(row.capabilities, { browser: false, sandbox: false });
  });

  test("seals headers and the callback secret, and stores them outside the session's row", async () => {
    const row = await createRow({
      callback: { url: "https://public.example/hook", secret: "canary-1" },
      mcpServers: {
        crm: { url: "https://crm.example/mcp", headers: { authorization: "canary-2" } },
        erp: {
          url: "https://erp.example/mcp",
          auth: { type: "client_credentials", clientId: "canary-id", clientSecret: "canary-5" },
        },
      },
    });
    assert.deepEqual(row.mcpServers, {
      crm: { url: "https://crm.example/mcp", type: "http" },
      erp: { url: "https://erp.example/mcp", type: "http" },
    });
    assert.doesNotMatch(JSON.stringify(row), /canary/);
    const secrets = await db.select().from(sealedSecrets).where(eq(sealedSecrets.sessionId, row.id));
    assert.doesNotMatch(JSON.stringify(secrets), /canary/);
    const opened = secrets.map(({ name, sealed }) => [
      name,
      sealer.open({ table: "sealed_secrets", row: row.id, column: name }, sealed),
    ]);
    assert.deepEqual(Object.fromEntries(opened), {
      "callback.secret": "canary-1",
      "mcpServers.crm.headers": '{"authorization":"canary-2"}',
      "mcpServers.erp.auth": '{"type":"client_credentials","clientId":"canary-id","clientSecret":"canary-5"}',
    });
  });

  test("seals URLs with a query, and stores them masked", async () => {
    const row = await createRow({
      callback: { url: "https://public.example/hook?token=canary-3&to=me" },
      mcpServers: {
        crm: { url: "https://crm.example/mcp?canary-4" },
        plain: { url: "https://plain.example/mcp", type: "sse" },
      },
    });
    assert.equal(row.callbackUrl, "https://public.example/hook?token=***&to=***");
    assert.deepEqual(row.mcpServers, {
      crm: { url: "https://crm.example/mcp?***", type: "http" },
      plain: { url: "https://plain.example/mcp", type: "sse" },
    });
    const secrets = await db.select().from(sealedSecrets).where(eq(sealedSecrets.sessionId, row.id));
    assert.doesNotMatch(JSON.stringify([row, secrets]), /canary/);
    const opened = secrets.map(({ name, sealed }) => [
      name,
      sealer.open({ table: "sealed_secrets", row: row.id, column: name }, sealed),
    ]);
    assert.deepEqual(Object.fromEntries(opened), {
      "callback.url": "https://public.example/hook?token=canary-3&to=me",
      "mcpServers.crm.url": "https://crm.example/mcp?canary-4",
    });
  });

  test("refuses callbacks that the deployment's settings forbid; by default they forbid none", async () => {
    const strict: CreationServices = {
      ...services,
      callbackRules: { secretLengthMin: 20, refuseHttp: createHttpRefusal("refuse", []) },
    };
    const url = "https://public.example/hook";
    const refused: [Record<string, unknown>, string][] = [
      [{ url, secret: "shh" }, "callback.secret: must be at least 20 characters"],
      [
        { url: "http://public.example/hook" },
        "callback.url: must be https, because CALLBACK_HTTP=refuse; hosts in NETWORK_ALLOW may use http",
      ],
    ];
    for (const [callback, error] of refused) {
      const answer = await create({ callback }, strict);
      assert.deepEqual({ ...answer }, { ok: false, code: "invalid_request", error });
      assert.ok((await create({ callback })).ok);
    }
    assert.ok((await create({ callback: { url, secret: "x".repeat(20) } }, strict)).ok);
    assert.ok((await create({ callback: { url } }, strict)).ok, "a secret is not required");
  });

  test("enables subAgents for a web caller only if the feature flag of that caller is on", async () => {
    const row = async (fields: Record<string, unknown>) =>
      (await createRow({ subAgents: true, ...fields })).subAgents;
    assert.equal(await row({ source: "api", userId: "anybody" }), true);
    assert.equal(await row({}), true);
    assert.deepEqual(flagQueries, [], "the flag is read only for web callers");
    assert.equal(await row({ source: "web", userId: "anybody" }), false);
    assert.equal(await row({ source: "web", userId: "invited" }), true);
    assert.equal(await row({ source: "web" }), false);
    assert.equal(await row({ source: "web", userId: "invited", subAgents: false }), false);
    assert.deepEqual(flagQueries, ["anybody", "invited", null]);
    const started = await createRow({ subAgents: true }, startSession);
    assert.deepEqual([started.source, started.subAgents], ["web", true]);
    assert.equal(flagQueries.length, 3, "the operator on the landing page needs no flag");
  });

  test("refuses a callback host that resolves to a private address, and accepts one that does not resolve yet", async () => {
    const answer = await create({ callback: { url: "https://inside.example/hook" } });
    assert.ok(!answer.ok);
    assert.equal(answer.code, "invalid_request");
    assert.match(answer.error, /^callback\.url: inside\.example resolves to/);
    assert.doesNotMatch(answer.error, /10\.0\.0\.7/);
    assert.equal((await create({ callback: { url: "https://later.example/hook" } })).ok, true);
  });

  test("returns the original for a replay, even if a ceiling has been lowered since", async () => {
    const fields = { idempotencyKey: "k", delegation: { maxLiveChildren: 4 } };
    const first = await create(fields);
    const lowered = {
      ...services,
      settings: { ...services.settings, delegation: { maxLiveChildren: 1, maxLiveBrowsers: 1 } },
    };
    const replay = await create(fields, lowered);
    assert.ok(first.ok && replay.ok);
    assert.equal(replay.status, 200);
    assert.deepEqual(replay.body, first.body);
    assert.equal((await create({ ...fields, idempotencyKey: "other" }, lowered)).ok, false);
  });

  test("succeeds even if the job cannot be sent yet; the job stays in the outbox", async () => {
    const warnings: string[] = [];
    const jobs = createJobSender({
      db,
      send: () => Promise.reject(new Error("no engine")),
      logger: { warn: (_fields, message) => void warnings.push(message) },
    });
    const readUnsent = async () => (await db.select().from(outbox)).filter(({ sentAt }) => sentAt === null);
    await until(async () => (await readUnsent()).length === 0);
    const answer = await create({}, { ...services, jobs });
    assert.equal(answer.ok && answer.status, 201);
    await until(() => warnings.length > 0);
    assert.equal((await readUnsent()).length, 1);
    assert.equal(await services.jobs.sweep({ ageMs: 0 }), 1);
  });
});
