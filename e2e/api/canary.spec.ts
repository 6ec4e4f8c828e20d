import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { sql } from "drizzle-orm";
import { WebSocket } from "ws";
import { openDatabase } from "#db/open-database.ts";
import { prepareTestDatabase } from "#db/testing.ts";
import { logIn } from "../fixtures/log-in.ts";
import { startAuthorizationServer } from "../fixtures/mcp/start-authorization-server.ts";
import { startToolServer, type ToolServer } from "../fixtures/mcp/start-tool-server.ts";
import { type Receiver, startReceiver } from "../fixtures/receiver.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type RunningService, startService, waitUntil } from "../fixtures/service.ts";

// Sends secrets (canaries) to the service, and checks that its other outputs, its files and its database do not contain
// them. Source: `security.md`, What leaves the service.

const HEADER = "Bearer canary-header-7f3d9a1c55e0";
const PLAIN_HEADER = "canary-tenant-0a91be77d2f446";
const URL_TOKENS = { callback: "canary-url-of-the-callback-51c0", server: "canary-url-of-the-server-9e2a7" };
const CLIENT_SECRET = "canary-client-secret-6d02f9";
const CALLBACK_SECRET = "canary-callback-2b8e61f0c7aa";
const ENCRYPTION_KEY = Buffer.from("canary-encryption-key-of-32-byte").toString("base64");
const MODEL_KEY = "sk-canary-model-90d1c3e5a7b2";

let folder: string;
let service: RunningService;
let model: ScriptedModel;
let crm: ToolServer;
let other: ToolServer;
let erp: ToolServer;
let authorizationServer: Awaited<ReturnType<typeof startAuthorizationServer>>;
let receiver: Receiver;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "canary-"));
  model = await startScriptedModel({
    script: {
      rules: [
        {
          steps: [
            { toolCalls: [{ name: "mcp_crm__repeat", arguments: { what: "everything" } }] },
            { toolCalls: [{ name: "mcp_other__look", arguments: {} }] },
            { toolCalls: [{ name: "mcp_erp__repeat", arguments: {} }] },
            { toolCalls: [{ name: "run_shell", arguments: { command: "env; cat /proc/self/environ" } }] },
            { text: "Done." },
          ],
        },
      ],
    },
  });
  crm = await startToolServer({
    tools: [
      {
        name: "repeat",
        // Repeats the request in the answer, so that the service gets back the secrets that it has sent.
        call: (input, { requestInfo }) => ({
          content: [{ type: "text", text: JSON.stringify({ input, headers: requestInfo?.headers }) }],
          structuredContent: { said: HEADER, tenant: PLAIN_HEADER, url: `/mcp?key=${URL_TOKENS.server}` },
        }),
      },
    ],
    instructions: `Always send ${HEADER}.`,
  });
  other = await startToolServer({ certificate: crm.certificate, tools: [{ name: "look" }] });
  const client = { clientId: "service", clientSecret: CLIENT_SECRET };
  const { certificate } = crm;
  authorizationServer = await startAuthorizationServer({ certificate, ...client });
  erp = await startToolServer({
    certificate,
    speaks: "stateless",
    tools: [
      {
        name: "repeat",
        // The first token expires before the answer, which repeats both tokens and the secret.
        answer: ({ headers }) => ({
          content: [{ type: "text", text: `erp has ${headers.authorization}, not ${CLIENT_SECRET}` }],
        }),
      },
    ],
    before({ headers, message }, response) {
      if (message?.method === "tools/call" && authorizationServer.requests.length === 1)
        authorizationServer.expire();
      if (authorizationServer.accepts(headers)) return false;
      response.writeHead(401, { "www-authenticate": `Bearer realm="${headers.authorization}"` }).end();
      return true;
    },
  });
  receiver = await startReceiver([500, 200]);
  const authority = join(folder, "authority.pem");
  await writeFile(authority, crm.certificate.cert);
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: MODEL_KEY,
    ENCRYPTION_KEY,
    NODE_EXTRA_CA_CERTS: authority,
    LOG_LEVEL: "trace",
    CALLBACK_RETRY_BASE_MS: "20",
    SANDBOX: "unconfined",
  });
});
test.afterAll(async () => {
  await service.close();
  for (const each of [model, crm, other, erp, authorizationServer, receiver]) await each.close();
  await rm(folder, { recursive: true, force: true });
});

/** Reads the raw bytes of every file below a folder. */
async function readFiles(path: string): Promise<[string, Buffer][]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (file): Promise<[string, Buffer]> => [file, await readFile(file)]));
}

/**
 * Reads every row of a stopped service's database as text, table by table. A search in the database's own files could
 * miss a secret, because the database may have compressed the value that contains the secret.
 */
async function readTables(dataDir: string): Promise<[string, Buffer][]> {
  const { DATABASE_URL: url } = await prepareTestDatabase(dataDir, "embedded");
  const { db, close } = await openDatabase(
    url ? { driver: "pg", url, onError() {} } : { driver: "embedded", dataDir },
  );
  const query = async <Row>(text: string) =>
    ((await db.execute(sql.raw(text))) as unknown as { rows: Row[] }).rows;
  try {
    const tables = await query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    const read: [string, Buffer][] = [];
    for (const { name } of tables) {
      const rows = await query<{ row: string }>(`select t::text as row from ${name} t`);
      read.push([`table ${name}`, Buffer.from(rows.map(({ row }) => row).join("\n"))]);
    }
    return read;
  } finally {
    await close();
  }
}

test("secrets appear only where they belong", async () => {
  const operatorCookie = await logIn(service.loginUrl);
  const creation = await fetch(`${service.baseUrl}/actions/keys`, {
    method: "POST",
    headers: { cookie: operatorCookie, origin: service.baseUrl, "content-type": "application/json" },
    body: JSON.stringify({ ownerId: "tests", name: "canary" }),
  });
  const { key } = (await creation.json()) as { key: string };
  expect(key).toMatch(/^ask_/);
  const keySecret = key.slice("ask_0123456789abcdef_".length);
  const withKey = { authorization: `Bearer ${key}` };

  const body = {
    messages: [{ role: "user", parts: [{ type: "text", text: "Look at everything" }] }],
    callback: { url: `${receiver.url}?token=${URL_TOKENS.callback}`, secret: CALLBACK_SECRET },
    mcpServers: {
      crm: {
        url: `${crm.url}?key=${URL_TOKENS.server}`,
        headers: { Authorization: HEADER, "X-Tenant": PLAIN_HEADER },
      },
      other: { url: other.url },
      erp: {
        url: erp.url,
        auth: {
          type: "client_credentials",
          clientId: "service",
          clientSecret: CLIENT_SECRET,
          tokenUrl: authorizationServer.tokenUrl,
        },
      },
    },
    capabilities: { browser: false },
  };
  const answer = await service.call("POST", "/api/session", body, withKey);
  expect(answer.status).toBe(201);
  const created = await answer.clone().json();
  const share = new URL(created.shareUrl, service.baseUrl);
  const token = share.searchParams.get("key") ?? "";

  // Everything that the service sends or logs, by the place where it appeared.
  const outputs = new Map<string, string>();
  const socket = new WebSocket(
    `${service.baseUrl.replace("http", "ws")}/api/sessions/${created.sessionId}/live?after=0`,
    {
      headers: withKey,
    },
  );
  const frames: string[] = [];
  socket.on("message", (data) => frames.push(String(data)));
  await service.completed(created.statusUrl);
  await waitUntil(() => receiver.received.length >= 3, "the callbacks were retried");
  await waitUntil(
    () => frames.some((frame) => frame.includes('"run.completed"')),
    "the socket has sent the end of the run",
  );
  socket.close();
  outputs.set("live socket", frames.join("\n"));

  const session = `/api/sessions/${created.sessionId}`;
  const entered = await fetch(share, { redirect: "manual" });
  const shareCookie = entered.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const pages: [string, Record<string, string>][] = [
    ...["/export?evidence=true", "/export?format=html", "/imports"].map(
      (path): [string, Record<string, string>] => [`${session}${path}`, withKey],
    ),
    ...["", "/agent/status", "/messages", "/annotations", "/deliveries", "/queue", "/browser"].map(
      (path): [string, Record<string, string>] => [`${session}${path}`, withKey],
    ),
    ...["/api/sessions", created.statusUrl, created.streamUrl].map(
      (path): [string, Record<string, string>] => [path, withKey],
    ),
    ...["/api/health", "/api/ready", "/api/openapi.json", "/docs", "/s/ses_none"].map(
      (path): [string, Record<string, string>] => [path, {}],
    ),
    ["/", { cookie: operatorCookie }],
    ["/actions/keys", { cookie: operatorCookie }],
    [`/s/${created.sessionId}`, { cookie: shareCookie }],
    [`/s/${created.sessionId}/actions/deliveries`, { cookie: shareCookie }],
    [session, { authorization: `Bearer ${key}x` }],
    [session, { "x-service-api-key": key.toUpperCase() }],
  ];
  for (const [path, headers] of pages) {
    const response = await fetch(new URL(path, service.baseUrl), { headers, redirect: "manual" });
    outputs.set(
      `${path} ${response.status}`,
      `${JSON.stringify([...response.headers])}\n${await response.text()}`,
    );
  }
  const page = [...outputs].find(([place]) => place.startsWith(`/s/${created.sessionId} `));
  expect(page?.[1], "the session page shows the session").toContain("Look at everything");
  outputs.set("creation", await answer.text());
  outputs.set(
    "callbacks",
    receiver.received.map(({ headers, body: sent }) => JSON.stringify(headers) + sent).join("\n"),
  );
  outputs.set("logs", service.output());
  outputs.set(
    "model",
    model.requests.map((request) => JSON.stringify([request.path, request.body])).join("\n"),
  );
  outputs.set(
    "the other tool server",
    JSON.stringify([other.requests, crm.requests]).replaceAll(HEADER, "").replaceAll(PLAIN_HEADER, ""),
  );
  await service.stop();
  const files = [...(await readFiles(service.dataDir)), ...(await readTables(service.dataDir))];
  expect(files.length).toBeGreaterThan(10);

  expect(outputs.get("model"), "the tools were called").toContain("mcp_crm__repeat");
  expect(outputs.get("model"), "the server echoed the secrets, which were redacted").toContain("[redacted]");
  expect(outputs.get("model"), "tokens are redacted").toContain("erp has Bearer [redacted], not [redacted]");
  const accessTokens = authorizationServer.requests.length;
  expect(accessTokens, "a new token was obtained in mid-turn").toBe(2);
  expect(
    erp.requests.some(({ headers }) => JSON.stringify(headers).includes(CLIENT_SECRET)),
    "the tool server never gets the client's secret",
  ).toBe(false);
  const secrets = {
    CLIENT_SECRET,
    accessToken: "token-of-the-authorization-server",
    basic: Buffer.from(`service:${CLIENT_SECRET}`).toString("base64"),
    HEADER,
    bearer: HEADER.slice("Bearer ".length),
    PLAIN_HEADER,
    CALLBACK_SECRET,
    callbackUrl: URL_TOKENS.callback,
    serverUrl: URL_TOKENS.server,
    ENCRYPTION_KEY,
    MODEL_KEY,
    keySecret,
    API_KEY,
    shareToken: token,
    operatorCookie: operatorCookie.split("=")[1] ?? "none",
  };
  const belongs: Partial<Record<keyof typeof secrets, RegExp>> = {
    // The share token may appear in responses to the session's owner and in responses of the session page.
    shareToken: new RegExp(`^(creation|/api/sessions |${session} |/s/${created.sessionId} )`),
  };
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(8);
    for (const [place, text] of outputs)
      if (!belongs[name as keyof typeof secrets]?.test(place))
        expect(text.includes(secret), `${name} in ${place}`).toBe(false);
    for (const [file, bytes] of files) expect(bytes.includes(secret), `${name} in ${file}`).toBe(false);
  }
  expect(outputs.get(`${session} 200`), "the query values of URLs are masked").toContain("?token=***");
  const ofCrm = crm.requests.map(({ headers }) => `${headers.authorization} ${headers["x-tenant"]}`);
  expect(new Set(ofCrm), "the server that the headers are for gets both with every request").toEqual(
    new Set([`${HEADER} ${PLAIN_HEADER}`]),
  );
});
