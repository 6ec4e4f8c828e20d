import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { agents, browsers, sessions } from "#db/schema/index.ts";
import { sessionRow } from "#db/testing.ts";
import { settingsKeyId } from "#lib/api/auth/authenticate.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import { createHolderCheck } from "#lib/mcp-server/admit-holder.ts";
import { deriveUserTokenKey, mintUserToken } from "#lib/secrets/user-token.ts";
import { silentSecurityLog } from "#lib/security-log/testing.ts";
import { OTHER_KEY, TEST_KEY, waitUntil } from "../testing.ts";
import {
  callTool,
  listNames,
  type McpService,
  openMcpService,
  readText,
  startSlowSite,
} from "./builtin-mcp-testing.ts";

// Adds the file extension to an import of a Next module, because Node needs the extension and the bundler does not.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "next/navigation" ? "next/navigation.js" : specifier, context),
});

let mcp: McpService;
let site: Awaited<ReturnType<typeof startSlowSite>>;

before(async () => {
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  [mcp, site] = await Promise.all([openMcpService({ BROWSER_EXECUTABLE_PATH }), startSlowSite()]);
});
after(async () => {
  site.close();
  await mcp.close();
});

const UTILITIES = ["check_accessibility", "compare_pictures", "read_markdown", "read_structured_data"];
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

const createSession = async (profile: Record<string, unknown> = {}) =>
  (await mcp.service.create("Say something.", profile)).sessionId;

/** Creates a user token of the kind that the session's own agent uses to call the built-in server. */
function mintAgentToken(sessionId: string, more: { audience?: string; expiresAt?: Date } = {}) {
  const { audience = mcp.url, expiresAt = new Date(Date.now() + 60_000) } = more;
  return mintUserToken(mcp.tokenKey, { sessionId, audience, expiresAt, holder: "agent", keyId: null });
}

/** Reads the tool events of a session that belong to no run. */
async function readCalls(sessionId: string) {
  const events = await mcp.container.services.log.read(sessionId, { after: 0, limit: 1_000 });
  return events
    .filter(({ kind, runId }) => kind.startsWith("tool.") && runId === null)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

test("the session owner's API key creates a token for another agent, valid for one session", async () => {
  const sessionId = await createSession();
  const path = `/api/sessions/${sessionId}/mcp-token`;
  const response = await mcp.service.call("POST", path);
  assert.equal(response.status, 201);
  const { success, token, url, expiresAt } = (await response.json()) as Record<string, string>;
  assert.deepEqual({ success, url }, { success: true, url: mcp.url });
  assert.match(token ?? "", /^[\w.-]+$/);
  const leftMs = Date.parse(expiresAt ?? "") - Date.now();
  assert.ok(leftMs > 3_500_000 && leftMs <= 3_600_000, `${leftMs} ms`);

  const foreign = await mcp.service.call("POST", path, undefined, { authorization: `Bearer ${OTHER_KEY}` });
  assert.equal(foreign.status, 404);
  const unknown = await mcp.service.call("POST", path, undefined, { authorization: "Bearer wrong" });
  assert.equal(unknown.status, 401);
});

test("the session's own agent is offered only the utilities", async () => {
  const sessionId = await createSession();
  const client = await mcp.connect(mintAgentToken(sessionId));
  assert.deepEqual(await listNames(client), UTILITIES);
  const own = mcp.container.services.tools.map(({ name }) => name);
  assert.deepEqual(
    UTILITIES.filter((name) => own.includes(name)),
    [],
  );
  await assert.rejects(
    client.callTool({ name: "read_file", arguments: { path: "a" } }),
    /no tool named read_file/,
  );
  assert.deepEqual(await readCalls(sessionId), []);
});

test("other agents are also offered the session's tools, except those that need a turn", async () => {
  const client = await mcp.connect(await mcp.requestToken(await createSession()));
  const names = await listNames(client);
  for (const name of [
    ...UTILITIES,
    "read_file",
    "run_shell",
    "browser_execute",
    "list_transcript",
    "screenshot",
  ])
    assert.ok(names.includes(name), name);
  assert.ok(!names.includes("elicit_user_input") && !names.includes("request_handover"));
  const { tools } = await client.listTools();
  for (const { name, inputSchema, annotations, description } of tools) {
    assert.equal(inputSchema.type, "object", name);
    assert.ok(description && annotations?.readOnlyHint !== undefined, name);
  }
  assert.equal(tools.find(({ name }) => name === "read_file")?.annotations?.readOnlyHint, true);
  assert.equal(tools.find(({ name }) => name === "run_shell")?.annotations?.destructiveHint, true);
});

test("the session's tool policy applies to other agents and to the utilities", async () => {
  const outputSchema = { type: "object", properties: { a: { type: "string" } } };
  const rows: [Record<string, unknown>, { agent?: string[]; with?: string[]; without: string[] }][] = [
    [{ outputSchema }, { with: ["read_file", "dom_query", ...UTILITIES], without: ["screenshot"] }],
    [
      { outputSchema, tools: { include: ["screenshot"] } },
      { with: ["screenshot"], without: [] },
    ],
    [
      { tools: { exclude: ["run_shell", "mcp_builtin__read_markdown"] } },
      { with: ["read_file"], without: ["run_shell", "read_markdown"], agent: UTILITIES.toSpliced(2, 1) },
    ],
    [{ tools: { exclude: ["mcp_builtin__*"] } }, { with: ["read_file"], without: UTILITIES, agent: [] }],
    [
      { tools: { externalTurnExclude: ["run_shell", "mcp_builtin__compare_pictures"] } },
      { with: ["read_file"], without: ["run_shell", "compare_pictures"], agent: UTILITIES },
    ],
    [
      { capabilities: { browser: false } },
      {
        with: ["run_shell"],
        without: ["screenshot", "browser_execute", "check_accessibility"],
        agent: UTILITIES.toSpliced(0, 1),
      },
    ],
    [
      { capabilities: { sandbox: false } },
      {
        with: ["list_transcript"],
        without: ["run_shell", "dom_query", "check_accessibility"],
        agent: UTILITIES.toSpliced(0, 1),
      },
    ],
  ];
  for (const [profile, expected] of rows) {
    const sessionId = await createSession(profile);
    const about = JSON.stringify(profile);
    const client = await mcp.connect(await mcp.requestToken(sessionId));
    const names = await listNames(client);
    for (const name of expected.with ?? []) assert.ok(names.includes(name), `${about} ${name}`);
    for (const name of expected.without) {
      assert.ok(!names.includes(name), `${about} ${name}`);
      await assert.rejects(client.callTool({ name, arguments: {} }), /no tool named/);
    }
    if (expected.agent)
      assert.deepEqual(await listNames(await mcp.connect(mintAgentToken(sessionId))), expected.agent, about);
  }
});

test("a token gives access to its own session only", async () => {
  const [one, two] = [await createSession(), await createSession()];
  const client = await mcp.connect(await mcp.requestToken(one));
  await callTool(client, "write_file", { path: "note.txt", content: "of session one" });
  const other = await mcp.connect(await mcp.requestToken(two));
  const listed = readText(await callTool(other, "list_files"));
  assert.doesNotMatch(listed, /note\.txt/);
  assert.match(readText(await callTool(client, "list_files")), /note\.txt/);
  assert.equal(
    (await readCalls(two)).every(({ sessionId }) => sessionId === two),
    true,
  );
});

test("a call of another agent is in the session's events, outside of any turn, and its evidence is stored", async () => {
  const sessionId = await createSession();
  const client = await mcp.connect(await mcp.requestToken(sessionId));
  const picture =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
  await callTool(client, "run_shell", { command: `echo ${picture} | base64 -d > dot.png` });
  const shown = await callTool(client, "view_image", { path: "dot.png" });
  assert.equal(shown.content.at(-1)?.type, "image");
  const [evidence] = await mcp.container.services.evidence.list(sessionId);
  assert.ok(evidence);
  const compared = await callTool(client, "compare_pictures", { before: evidence.id, after: evidence.id });
  assert.equal(compared.structuredContent?.isEqual, true);
  const failed = await callTool(client, "read_file", { path: "missing.txt" });
  assert.equal(failed.isError, true);

  const calls = await readCalls(sessionId);
  const about = calls.map(({ kind, toolName, state, requestId, messageId }) =>
    [kind, toolName, state, requestId, messageId]
      .map((value) => (value === undefined ? "-" : String(value)))
      .join(" "),
  );
  assert.deepEqual(about, [
    "tool.call run_shell - null null",
    "tool.result run_shell succeeded null -",
    "tool.call view_image - null null",
    "tool.result view_image succeeded null -",
    "tool.call mcp_builtin__compare_pictures - null null",
    "tool.result mcp_builtin__compare_pictures succeeded null -",
    "tool.call read_file - null null",
    "tool.result read_file failed null -",
  ]);
  const [viewed] = calls.filter((call) => Array.isArray(call.evidence) && call.evidence.length > 0);
  assert.deepEqual([viewed?.toolName, JSON.stringify(viewed).includes(evidence.id)], ["view_image", true]);
});

test("another agent can check the session's page and compare pictures of it", async () => {
  const sessionId = await createSession({ targetUrl: `${site.url}/page` });
  const client = await mcp.connect(await mcp.requestToken(sessionId));
  const checking = callTool(client, "check_accessibility");
  await waitUntil(() => site.requested.includes("/page"), "the browser has requested the page");
  site.answer(
    "/page",
    "<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1><img src=data:,></main>",
  );
  const checked = (await checking).structuredContent as {
    url: string;
    violations: { rule: string; tags: string[] }[];
  };
  assert.equal(checked.url, `${site.url}/page`);
  assert.deepEqual(
    checked.violations.map(({ rule, tags }) => `${rule} ${tags}`),
    ["image-alt wcag2a"],
  );

  const takePicture = async () => {
    const result = await callTool(client, "screenshot");
    assert.equal(result.content.at(-1)?.type, "image");
    return /Evidence (\w+):/.exec(readText(result))?.[1];
  };
  const before = await takePicture();
  const script = 'await page.evaluate(() => { document.body.style.background = "red" })';
  await callTool(client, "browser_execute", { script });
  const compared = await callTool(client, "compare_pictures", { before, after: await takePicture() });
  const { share, differenceId } = compared.structuredContent as { share: number; differenceId: string };
  assert.ok(share > 0.9, `${share}`);
  const picture = await mcp.service.call("GET", `/api/sessions/${sessionId}/artifacts/${differenceId}`);
  assert.deepEqual([picture.status, picture.headers.get("content-type")], [200, "image/png"]);
});

test("a sub-agent that shares its parent's browser checks the page of that browser", async () => {
  const { db } = mcp.container.services;
  const parentId = await createSession({ targetUrl: `${site.url}/shared` });
  const child = {
    parentSessionId: parentId,
    rootSessionId: parentId,
    depth: 1,
    name: "reader",
    objective: "",
  };
  const about = { ...child, browser: "shared", browserSessionId: parentId } as const;
  const childId = `${parentId}-reader`;
  await db.insert(sessions).values(sessionRow({ id: childId, parentSessionId: parentId }));
  const spawned = { spawnRunId: `run_${childId}`, spawnCallId: "call_1", spawnIndex: 0 };
  await db.insert(agents).values({ ...about, ...spawned, sessionId: childId });

  const client = await mcp.connect(mintAgentToken(childId));
  const checking = callTool(client, "check_accessibility");
  await waitUntil(() => site.requested.includes("/shared"), "the parent's page is requested");
  site.answer("/shared", "<!doctype html><html lang=en><title>Shared</title><main><h1>Shared</h1></main>");
  assert.equal((await checking).structuredContent?.url, `${site.url}/shared`);
  const started = await db.select().from(browsers).where(eq(browsers.sessionId, childId));
  assert.deepEqual(started, [], "the sub-agent has no browser of its own");
});

test("a call reports its progress, and its result matches the tool's output schema", async () => {
  const client = await mcp.connect(mintAgentToken(await createSession()));
  const progress: string[] = [];
  const call = client.callTool(
    { name: "read_structured_data", arguments: { url: `${site.url}/shape` } },
    undefined,
    { onprogress: ({ progress: done, total, message }) => progress.push(`${done}/${total} ${message}`) },
  );
  await waitUntil(() => site.requested.includes("/shape"), "the site has the request");
  site.answer("/shape", "<title>A page</title>");
  const result = await call;
  // `callTool` of the SDK's client has validated the result against the tool's outputSchema.
  assert.equal((result.structuredContent as { title?: string }).title, "A page");
  assert.deepEqual(progress, [`0/2 fetching ${site.url}/shape`, "1/2 looking for structured data"]);
});

test("invalid input gives an error result that names the field", async () => {
  const client = await mcp.connect(await mcp.requestToken(await createSession()));
  const rows: [string, Record<string, unknown>, RegExp][] = [
    ["read_markdown", {}, /read_markdown: url: is required/],
    ["read_markdown", { url: "file:///etc/passwd" }, /url: must be an absolute http\(s\) URL/],
    ["read_markdown", { url: "https://example.com", extra: 1 }, /extra: unknown field/],
    ["compare_pictures", { before: "evi_x" }, /after: is required/],
    ["read_file", { path: 7 }, /path: must be a string/],
  ];
  for (const [name, input, sentence] of rows) {
    const result = await callTool(client, name, input);
    assert.equal(result.isError, true, name);
    assert.match(readText(result), sentence);
  }
});

test("tools refuse private addresses", async () => {
  const client = await mcp.connect(await mcp.requestToken(await createSession()));
  for (const url of [
    "http://169.254.169.254/",
    "http://10.0.0.1/",
    "http://[::1]:3000/",
    "http://0x7f000002/",
  ])
    for (const name of ["read_markdown", "read_structured_data", "fetch_url"]) {
      const result = await callTool(client, name, { url });
      assert.equal(result.isError, true, `${name} ${url}`);
      assert.match(readText(result), /could not be fetched/);
    }
});

test("a missing, wrong, expired or foreign token is 401, and the answer names the expected header", async () => {
  const sessionId = await createSession();
  const good = await mcp.requestToken(sessionId);
  const elsewhere = mintAgentToken(sessionId, { audience: "https://elsewhere.example/api/mcp" });
  const ended = mintAgentToken(sessionId, { expiresAt: new Date(Date.now() - 1_000) });
  const foreignKey = deriveUserTokenKey(Buffer.alloc(32, 7));
  const forged = mintUserToken(foreignKey, {
    sessionId,
    audience: mcp.url,
    holder: "other",
    keyId: "settings:0",
    expiresAt: new Date(Date.now() + 60_000),
  });
  const unknown = mintAgentToken("ses_unknown");
  const rows = [undefined, "x", elsewhere, ended, forged, unknown, `${good}x`, good.slice(0, -1)];
  for (const token of rows) {
    const response = await mcp.post(token, LIST);
    assert.equal(response.status, 401, token);
    assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer/);
    assert.match(await response.text(), /Authorization: Bearer/);
  }
  assert.equal((await mcp.post(good, LIST)).status, 200);
});

test("a token is refused when its API key is no longer in the settings", async () => {
  const base = {
    db: mcp.container.services.db,
    key: mcp.tokenKey,
    audience: mcp.url,
    rates: createRateLimiter({ create: 0, poll: 0, annotate: 0, act: 0 }),
    keys: createKeyStore(mcp.container.services.db),
    securityLog: silentSecurityLog,
    failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
    authenticate: mcp.container.services.authenticate,
  };
  const token = await mcp.requestToken(await createSession());
  const ask = async (...keys: string[]) => {
    const check = createHolderCheck({ ...base, settingsKeyIds: new Set(keys.map(settingsKeyId)) });
    const checked = await check(new Request(mcp.url, { headers: { authorization: `Bearer ${token}` } }));
    return checked.ok ? "admitted" : checked.code;
  };
  assert.equal(await ask(TEST_KEY, OTHER_KEY), "admitted");
  assert.equal(await ask(OTHER_KEY), "unauthorized");
});

test("requests of other agents are rate limited per session, those of the session's own agent are not", async () => {
  const check = createHolderCheck({
    db: mcp.container.services.db,
    key: mcp.tokenKey,
    audience: mcp.url,
    failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
    authenticate: mcp.container.services.authenticate,
    rates: createRateLimiter({ create: 0, poll: 2, annotate: 0, act: 0 }),
    keys: createKeyStore(mcp.container.services.db),
    settingsKeyIds: new Set([settingsKeyId(TEST_KEY)]),
    securityLog: silentSecurityLog,
  });
  const ask = async (token: string) => {
    const checked = await check(new Request(mcp.url, { headers: { authorization: `Bearer ${token}` } }));
    return checked.ok ? "admitted" : checked.code;
  };
  const [one, two] = [await createSession(), await createSession()];
  const answers: string[] = [];
  // Each request uses a new token, which must not reset the limit.
  for (const sessionId of [one, one, one, two]) answers.push(await ask(await mcp.requestToken(sessionId)));
  assert.deepEqual(answers, ["admitted", "admitted", "rate_limited", "admitted"]);
  assert.equal(await ask(mintAgentToken(one)), "admitted");
});

test("a token of a deleted session is refused", async () => {
  const sessionId = await createSession();
  const token = await mcp.requestToken(sessionId);
  const removed = await mcp.service.call("DELETE", `/api/sessions/${sessionId}`);
  assert.equal(removed.status, 200);
  assert.equal((await mcp.post(token, LIST)).status, 401);
});

test("requests with a foreign Origin or Host are refused", async () => {
  const token = await mcp.requestToken(await createSession());
  for (const origin of [
    "https://evil.example",
    "null",
    "http://127.0.0.1:1",
    `${mcp.service.env.baseUrl}.evil.example`,
  ])
    assert.equal((await mcp.post(token, LIST, { origin })).status, 403, origin);
  assert.equal((await mcp.post(token, LIST, { origin: mcp.service.env.baseUrl })).status, 200);

  // Calls the endpoint without the HTTP server, to test the endpoint's own check of the Host header.
  for (const host of ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", ""]) {
    const headers = { authorization: `Bearer ${token}`, host, "content-type": "application/json" };
    const request = new Request(mcp.url, { method: "POST", headers, body: JSON.stringify(LIST) });
    assert.equal((await mcp.container.mounted.serveMcp(request)).status, 403, host);
  }
});

test("methods other than POST are 405", async () => {
  const headers = { authorization: `Bearer ${await mcp.requestToken(await createSession())}` };
  for (const method of ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"]) {
    const response = await fetch(mcp.url, { method, headers: { ...headers, accept: "text/event-stream" } });
    assert.equal(response.status, 405, method);
    assert.equal(response.headers.get("allow"), "POST");
    assert.equal(response.headers.get("access-control-allow-origin"), null);
  }
});

test("Next's route gives the same answers as our own server", async () => {
  const CONTAINER = Symbol.for("agent-session-service");
  Object.assign(globalThis, { [CONTAINER]: mcp.container.mounted });
  try {
    const route = (await import("#app/api/mcp/route.ts")) as Record<string, unknown>;
    const token = await mcp.requestToken(await createSession());
    const rows: RequestInit[] = [
      { method: "GET" },
      { method: "DELETE" },
      { method: "POST", body: JSON.stringify(LIST) },
      { method: "POST", body: "{" },
      { method: "POST", body: JSON.stringify({ ...LIST, method: "tools/call", params: { name: "none" } }) },
      { method: "POST", body: JSON.stringify(LIST), headers: { authorization: "Bearer wrong" } },
    ];
    for (const row of rows) {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...row.headers,
      };
      const init = { ...row, headers };
      const handle = route[row.method ?? ""] as (request: Request, context: object) => Promise<Response>;
      const [direct, mounted] = await Promise.all([
        fetch(mcp.url, init),
        handle(new Request(mcp.url, init), { params: Promise.resolve(undefined) }),
      ]);
      const about = `${row.method} ${row.body}`;
      assert.equal(mounted.status, direct.status, about);
      assert.equal(await mounted.text(), await direct.text(), about);
      for (const name of ["content-type", "allow", "www-authenticate", "cache-control"])
        assert.equal(mounted.headers.get(name), direct.headers.get(name), `${about} ${name}`);
    }
  } finally {
    Object.assign(globalThis, { [CONTAINER]: undefined });
  }
});

test("invalid messages are refused, and a notification is answered with 202", async () => {
  const token = await mcp.requestToken(await createSession());
  const rows: [unknown, Record<string, string>, number][] = [
    ["{", {}, 400],
    ["", {}, 400],
    ["[]", {}, 400],
    [[LIST, LIST], {}, 400],
    ['{"a":"\\u0000"}', {}, 400],
    [{ hello: "world" }, {}, 400],
    ["x".repeat(5 * 1_048_576), {}, 413],
    [LIST, { "content-type": "text/plain" }, 415],
    [LIST, { accept: "text/html" }, 406],
    [LIST, { "mcp-protocol-version": "1999-01-01" }, 400],
    [{ jsonrpc: "2.0", method: "notifications/initialized" }, {}, 202],
  ];
  for (const [body, headers, status] of rows) {
    const response = await mcp.post(token, body, headers);
    assert.equal(response.status, status, `${JSON.stringify(body).slice(0, 60)} ${JSON.stringify(headers)}`);
    await response.arrayBuffer();
  }
});

test("a message is answered in a form that its client accepts", async () => {
  const token = await mcp.requestToken(await createSession());
  const call = {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "read_markdown", arguments: { url: "none" } },
  };
  const [json, stream] = ["application/json", "text/event-stream"];
  const rows: [accept: string | undefined, list: string, called: string][] = [
    [undefined, json, stream],
    ["*/*", json, stream],
    ["application/*", json, json],
    ["application/json", json, json],
    ["text/event-stream", stream, stream],
    ["text/html, application/xhtml+xml, */*;q=0.8", json, stream],
    ["APPLICATION/JSON; q=0.5, text/*", json, stream],
    ["*/*, text/event-stream;q=0", json, json],
  ];
  for (const [accept, list, called] of rows)
    for (const [message, type] of [
      [LIST, list],
      [call, called],
    ] as const) {
      // `fetch` always sends the header, so a request without it is passed to the service directly.
      const response =
        accept === undefined
          ? await mcp.container.mounted.serveMcp(
              new Request(mcp.url, {
                method: "POST",
                headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
                body: JSON.stringify(message),
              }),
            )
          : await mcp.post(token, message, { accept });
      const about = `${message.method} ${accept}`;
      assert.equal(response.status, 200, about);
      assert.equal(response.headers.get("content-type")?.split(";")[0], type, about);
      assert.match(await response.text(), /"result":/, about);
    }
  for (const accept of ["text/html", "image/*", "*/*;q=0", "application/xml"])
    assert.equal((await mcp.post(token, LIST, { accept })).status, 406, accept);
});

test("a call ends when its client cancels it, and when its connection ends", async () => {
  const sessionId = await createSession();
  const client = await mcp.connect(mintAgentToken(sessionId));
  const stop = new AbortController();
  const cancelled = client.callTool(
    { name: "read_markdown", arguments: { url: `${site.url}/cancelled` } },
    undefined,
    { signal: stop.signal },
  );
  await waitUntil(() => site.requested.includes("/cancelled"), "the site has the request");
  stop.abort("no longer wanted");
  await assert.rejects(cancelled);
  await waitUntil(() => site.aborted.includes("/cancelled"), "the page is no longer fetched");

  const closing = await mcp.connect(mintAgentToken(sessionId));
  const dropped = closing.callTool({ name: "read_markdown", arguments: { url: `${site.url}/dropped` } });
  await waitUntil(() => site.requested.includes("/dropped"), "the site has the request");
  await Promise.all([closing.close(), assert.rejects(dropped)]);
  await waitUntil(() => site.aborted.includes("/dropped"), "the page is no longer fetched");
});

test("a client cannot cancel the call of another holder", async () => {
  const sessionId = await createSession();
  const tokens = [mintAgentToken(sessionId), mintAgentToken(sessionId)];
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "read_markdown", arguments: { url: `${site.url}/kept` } },
  });
  const answering = mcp.post(tokens[0], call(5));
  await waitUntil(() => site.requested.includes("/kept"), "the site has the request");
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } };
  assert.equal((await mcp.post(tokens[1], cancel)).status, 202);
  assert.equal((await mcp.post(tokens[0], { ...cancel, params: { requestId: "5" } })).status, 202);
  site.answer("/kept", "<p>Still here.</p>");
  assert.match(await (await answering).text(), /Still here/);
});

test("calls of other agents in one session run one after the other", async () => {
  const client = await mcp.connect(await mcp.requestToken(await createSession()));
  const first = callTool(client, "read_markdown", { url: `${site.url}/first` });
  await waitUntil(() => site.requested.includes("/first"), "the first page was requested");
  const second = callTool(client, "read_markdown", { url: `${site.url}/second` });
  // This request is sent after the second call, so its answer shows that the second call has arrived at the service.
  await listNames(client);
  assert.ok(!site.requested.includes("/second"));
  site.answer("/first", "<p>One.</p>");
  assert.match(readText(await first), /One\./);
  await waitUntil(() => site.requested.includes("/second"), "the second page was requested");
  site.answer("/second", "<p>Two.</p>");
  assert.match(readText(await second), /Two\./);
});

test("a session's agent calls the utilities in its turn by their mcp_builtin__ names", async () => {
  await waitUntil(async () => {
    const { data } = await mcp.service.read<{ data: { turnState: string }[] }>("/api/sessions?limit=100");
    return data.every(({ turnState }) => turnState === "idle");
  }, "no other turn takes the scripted answers");
  mcp.service.model.enqueue(
    { toolCalls: [{ name: "mcp_builtin__read_markdown", arguments: { url: `${site.url}/turn` } }] },
    { text: "I have read it." },
  );
  const { sessionId, statusUrl } = await mcp.service.create("Read the page.");
  await waitUntil(() => site.requested.includes("/turn"), "the site has the request");
  site.answer("/turn", "<title>Read in a turn</title><p>Of the page.</p>");
  await mcp.service.completed(statusUrl);
  const events = await mcp.container.services.log.read(sessionId, { after: 0, limit: 100 });
  const [result] = events.filter(({ kind }) => kind === "tool.result").map(({ body }) => JSON.parse(body));
  assert.deepEqual([result.toolName, result.state], ["mcp_builtin__read_markdown", "succeeded"]);
  assert.match(result.preview, /Title: Read in a turn[\s\S]*Of the page\./);
  assert.deepEqual(await readCalls(sessionId), []);
});

test("the model of an editing session gets the utilities on demand, unless the caller asks for one", async () => {
  const outputSchema = { type: "object", properties: { a: { type: "string" } } };
  const sentUtilities = async (text: string, fields: Record<string, unknown>) => {
    mcp.service.model.enqueue({ text: "Done." }, ...(fields.outputSchema ? [{ json: { a: null } }] : []));
    await mcp.service.completed((await mcp.service.create(text, fields)).statusUrl);
    const request = mcp.service.model.requests.findLast(
      ({ kind, userText }) => kind === "turn" && userText.includes(text),
    );
    const tools = (request?.body.tools ?? []) as { name: string; description?: string }[];
    const loadable = tools.find(({ name }) => name === "load_tools")?.description ?? "";
    return UTILITIES.map((name) => `mcp_builtin__${name}`).map((name) =>
      tools.some((tool) => tool.name === name) ? "sent" : loadable.includes(name) ? "on demand" : "absent",
    );
  };
  const all = (state: string) => UTILITIES.map(() => state);
  assert.deepEqual(await sentUtilities("Edit this", {}), all("on demand"));
  assert.deepEqual(await sentUtilities("Extract this", { outputSchema }), all("sent"));
  const include = [`mcp_builtin__${UTILITIES[0]}`];
  const [first, ...others] = await sentUtilities("Edit this with one", { tools: { include } });
  assert.deepEqual([first, new Set(others)], ["sent", new Set(["on demand"])]);
});

test("tool events never contain the token or a key", async () => {
  const sessionId = await createSession();
  const token = await mcp.requestToken(sessionId);
  const client = await mcp.connect(token);
  await callTool(client, "run_shell", { command: "env; echo done" });
  const calls = JSON.stringify(await readCalls(sessionId));
  assert.ok(!calls.includes(token) && !calls.includes("key-of-the-service-tests"));
});
