import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { OTHER_KEY, type RunningService, startService, userMessage } from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    NETWORK_ALLOW: "127.0.0.1,receiver.example",
  });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

const messages = [userMessage("Hello")];
const create = (body: unknown, headers: Record<string, string> = {}) =>
  service.call("POST", "/api/session", body, headers);
const countSessions = async () =>
  (await service.read<{ data: unknown[] }>("/api/sessions?limit=100")).data.length;
const repeat = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));
const servers = (count: number) =>
  Object.fromEntries(repeat(count, (index) => [`s${index}`, { url: "https://mcp.example/mcp" }]));
const headers = (count: number) => Object.fromEntries(repeat(count, (index) => [`X-H${index}`, "v"]));
const names = (count: number) => repeat(count, (index) => `tool_${index}`);
/** Creates a JSON Schema whose text has exactly this many bytes. */
const schemaOf = (bytes: number) => {
  const frame = JSON.stringify({ type: "object", description: "" }).length;
  return { type: "object", description: "x".repeat(bytes - frame) };
};

const everything = {
  messages: [
    userMessage("Earlier"),
    { role: "assistant", parts: [{ type: "text", text: "Yes?" }] },
    userMessage("Look at this page"),
  ],
  targetUrl: "https://shop.example/checkout",
  targetPageUrls: ["https://shop.example/cart", "http://shop.example/help"],
  metadata: { ticket: 7, nested: { tags: ["a", null, true] } },
  userId: "user-1",
  source: "cli",
  callback: { url: "https://receiver.example/hook", secret: "s3cret", events: ["run.completed"] },
  tools: { include: ["apply_variant"], exclude: ["run_shell"], externalTurnExclude: ["elicit_user_input"] },
  systemPrompt: "Be brief.",
  mcpServers: {
    crm: { url: "https://crm.example/mcp", type: "sse", headers: { Authorization: "Bearer t" } },
    builtin: { url: "https://tools.example/mcp" },
  },
  capabilities: { browser: false, sandbox: true },
  subAgents: true,
  delegation: { maxLiveChildren: 3, maxLiveBrowsers: 2 },
};

test.describe("the creation of a session", () => {
  test("answers 201 with every field of the creation response and the status URL as Location", async () => {
    const response = await create({ messages });
    expect(response.status).toBe(201);
    const body = await response.json();
    expect(body).toEqual({
      success: true,
      sessionId: expect.stringMatching(/^ses_[a-z2-7]{24}$/),
      requestId: expect.stringMatching(/^req_[a-z2-7]{24}$/),
      runId: expect.stringMatching(/^run_[a-z2-7]{24}$/),
      shareUrl: expect.stringMatching(new RegExp(`^/s/${body.sessionId}\\?key=[\\w-]{22,}$`)),
      statusUrl: `/api/sessions/${body.sessionId}/requests/${body.requestId}`,
      streamUrl: `/api/sessions/${body.sessionId}/requests/${body.requestId}/stream`,
    });
    expect(response.headers.get("location")).toBe(body.statusUrl);
    expect(response.headers.has("idempotency-replayed")).toBe(false);
  });

  test("accepts a body with every field", async () => {
    const response = await create(everything);
    expect(response.status, await response.clone().text()).toBe(201);
    const { sessionId } = await response.json();
    const status = await service.read(`/api/sessions/${sessionId}/agent/status`);
    expect(status).toMatchObject({ delegation: everything.delegation, deliverable: null });
  });

  test("shows no secret in its answer, the transcript, the lists, the log or the prompt", async () => {
    const canary = "canary-4711";
    const created = await service.create("Keep it to yourself", {
      callback: { url: "https://receiver.example/hook", secret: canary },
      mcpServers: { crm: { url: "https://crm.example/mcp", headers: { Authorization: canary } } },
    });
    await service.completed(created.statusUrl);
    for (const path of [
      created.statusUrl,
      created.streamUrl,
      `/api/sessions/${created.sessionId}/agent/status`,
      `/api/sessions/${created.sessionId}/messages`,
      `/api/sessions/${created.sessionId}/deliveries`,
      "/api/sessions",
    ])
      expect(await (await service.call("GET", path)).text(), path).not.toContain(canary);
    expect(JSON.stringify(model.requests)).not.toContain(canary);
    expect(service.output()).not.toContain(canary);
  });

  test("starts the first turn with the last user message, and stores the whole transcript", async () => {
    const { sessionId, statusUrl } = await service.create("unused", {
      messages: [
        userMessage("First"),
        { role: "assistant", parts: [{ type: "text", text: "Second" }] },
        userMessage("Third"),
      ],
      systemPrompt: "Answer like a sailor.",
    });
    await service.completed(statusUrl);
    const { data } = await service.read<{ data: { role: string; parts: { text: string }[] }[] }>(
      `/api/sessions/${sessionId}/messages`,
    );
    expect(data.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
      ["user", "First"],
      ["assistant", "Second"],
      ["user", "Third"],
      ["assistant", "Done."],
    ]);
    const request = model.requests.find(({ userText }) => userText.includes("Third"));
    expect(request?.text).toContain("## Session Instructions");
    expect(request?.text).toContain("Answer like a sailor.");
  });
});

test.describe("a value at its limit", () => {
  const accepted: [string, Record<string, unknown>][] = [
    ["a system prompt of 20,000 characters", { systemPrompt: "x".repeat(20_000) }],
    ["a system prompt of 20,000 characters beyond the basic plane", { systemPrompt: "😀".repeat(20_000) }],
    [
      "10 MCP servers and the builtin pin",
      { mcpServers: { ...servers(10), builtin: { url: "https://t.example/" } } },
    ],
    ["20 headers of a server", { mcpServers: { a: { url: "https://t.example/", headers: headers(20) } } }],
    [
      "a server id of 32 characters",
      { mcpServers: { [`a${"_-0".repeat(10)}z`]: { url: "https://t.example/" } } },
    ],
    [
      "128 names in each list",
      { tools: { include: names(128), exclude: names(128), externalTurnExclude: names(128) } },
    ],
    ["an output schema of 64 KiB", { outputSchema: schemaOf(65_536) }],
    ["caps at the deployment's ceiling", { delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 } }],
    ["caps of zero", { delegation: { maxLiveChildren: 0, maxLiveBrowsers: 0 } }],
    ["a children cap alone, which bounds the browsers", { delegation: { maxLiveChildren: 1 } }],
    ["the sandbox off alone", { capabilities: { sandbox: false } }],
    ["both capabilities off", { capabilities: { sandbox: false, browser: false } }],
    [
      "empty objects where fields are optional",
      { tools: {}, capabilities: {}, delegation: {}, mcpServers: {}, metadata: {} },
    ],
    [
      "the builtin pin with type http",
      { mcpServers: { builtin: { url: "https://t.example/", type: "http" } } },
    ],
    [
      "local references, combinators and standard keywords",
      {
        outputSchema: {
          type: "object",
          properties: {
            a: { $ref: "#/$defs/a" },
            b: { oneOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
          },
          $defs: { a: { type: "array", minItems: 1, items: { type: "integer" } } },
        },
      },
    ],
    ["names of tools that do not exist", { tools: { include: ["no_such_tool", "mcp_crm__*"] } }],
    ["a target on a private address", { targetUrl: "http://10.0.0.1/" }],
  ];
  for (const [what, fields] of accepted)
    test(`is accepted: ${what}`, async () => {
      const response = await create({ messages, ...fields });
      expect(response.status, await response.clone().text()).toBe(201);
    });

  test("maxLiveBrowsers defaults to the smaller of the deployment value and the children cap", async () => {
    const { sessionId } = await service.create("Hi", { delegation: { maxLiveChildren: 1 } });
    expect(await service.read(`/api/sessions/${sessionId}/agent/status`)).toMatchObject({
      delegation: { maxLiveChildren: 1, maxLiveBrowsers: 1 },
    });
  });
});

test.describe("invalid input", () => {
  const url = "https://mcp.example/mcp";
  const refused: [Record<string, unknown>, string | RegExp][] = [
    [{ messages: undefined }, "messages: is required"],
    [{ messages: null }, "messages: must be an array"],
    [{ messages: [] }, "messages: must hold at least one message"],
    [{ messages: "Hello" }, "messages: must be an array"],
    [{ messages: [null] }, "messages[0]: must be an object"],
    [
      { messages: [{ role: "assistant", parts: [{ type: "text", text: "Hi" }] }] },
      "messages: must hold at least one user message",
    ],
    [{ messages: [{ role: "system", parts: [] }] }, 'messages[0].role: must be "user" or "assistant"'],
    [{ messages: [{ parts: [] }] }, "messages[0].role: is required"],
    [{ messages: [{ role: "user" }] }, "messages[0].parts: is required"],
    [{ messages: [{ role: "user", parts: "x" }] }, "messages[0].parts: must be an array"],
    [{ messages: [{ role: "user", parts: [] }] }, "messages[0].parts: must hold at least one part"],
    [
      { messages: [{ role: "user", parts: [{ type: "image", text: "x" }] }] },
      'messages[0].parts[0].type: must be "text"',
    ],
    [
      { messages: [{ role: "user", parts: [{ type: "text", text: 5 }] }] },
      "messages[0].parts[0].text: must be a string",
    ],
    [{ messages: [{ role: "user", parts: [{ type: "text" }] }] }, "messages[0].parts[0].text: is required"],
    [{ nonsense: 1 }, "nonsense: unknown field"],
    [{ OutputSchema: {} }, "OutputSchema: unknown field"],
    [{ targetUrl: "shop.example" }, "targetUrl: must be an absolute http(s) URL"],
    [{ targetUrl: "javascript:alert(1)" }, "targetUrl: must be an absolute http(s) URL"],
    [{ targetUrl: "http://" }, "targetUrl: must be an absolute http(s) URL"],
    [{ targetUrl: null }, "targetUrl: must be a string"],
    [{ targetPageUrls: "https://a.example" }, "targetPageUrls: must be an array"],
    [
      { targetPageUrls: ["https://a.example", "file:///etc/passwd"] },
      "targetPageUrls[1]: must be an absolute http(s) URL",
    ],
    [{ metadata: [] }, "metadata: must be an object"],
    [{ metadata: null }, "metadata: must be an object"],
    [{ metadata: "x" }, "metadata: must be an object"],
    [{ idempotencyKey: "" }, "idempotencyKey: must not be empty"],
    [{ idempotencyKey: 5 }, "idempotencyKey: must be a string"],
    [{ idempotencyKey: "k".repeat(256) }, "idempotencyKey: must be at most 255 characters"],
    [{ userId: {} }, "userId: must be a string"],
    [{ source: "email" }, 'source: must be one of "web", "api", "slack" or "cli"'],
    [{ source: null }, 'source: must be one of "web", "api", "slack" or "cli"'],
    [{ callback: "https://a.example" }, "callback: must be an object"],
    [{ callback: null }, "callback: must be an object"],
    [{ callback: {} }, "callback.url: is required"],
    [{ callback: { url: "receiver.example/hook" } }, "callback.url: must be an absolute http(s) URL"],
    [{ callback: { url: "ftp://receiver.example/hook" } }, "callback.url: must be an absolute http(s) URL"],
    [
      { callback: { url: "https://me:secret@receiver.example/hook" } },
      "callback.url: must not contain credentials",
    ],
    [{ callback: { url: "https://receiver.example/", secret: "" } }, "callback.secret: must not be empty"],
    [{ callback: { url: "https://receiver.example/", secret: 5 } }, "callback.secret: must be a string"],
    [
      { callback: { url: "https://receiver.example/", events: [] } },
      "callback.events: must name at least one of run.started, run.completed, run.waiting, run.resumed",
    ],
    [
      { callback: { url: "https://receiver.example/", events: ["run.failed"] } },
      'callback.events[0]: must be one of "run.started", "run.completed", "run.waiting" or "run.resumed"',
    ],
    [
      { callback: { url: "https://receiver.example/", events: "run.started" } },
      "callback.events: must be an array",
    ],
    [{ callback: { url: "https://receiver.example/", method: "PUT" } }, "callback.method: unknown field"],
    [{ doneSchema: { type: "object" } }, /^doneSchema: is retired/],
    [{ doneSchema: null }, /^doneSchema: is retired/],
    [{ outputSchema: null }, "outputSchema: must be an object"],
    [{ outputSchema: true }, "outputSchema: must be an object"],
    [{ outputSchema: [] }, "outputSchema: must be an object"],
    [{ outputSchema: {} }, /^outputSchema.*object/],
    [{ outputSchema: { type: "array", items: {} } }, /^outputSchema.*object/],
    [{ outputSchema: { type: ["object", "null"] } }, /^outputSchema.*object/],
    [{ outputSchema: { anyOf: [{ type: "object" }] } }, /^outputSchema.*object/],
    [{ outputSchema: schemaOf(65_537) }, /^outputSchema.*64 KiB/],
    [{ outputSchema: { type: "object", properties: 5 } }, /^outputSchema/],
    [{ outputSchema: { type: "object", properties: { a: { type: "strin" } } } }, /^outputSchema/],
    [{ outputSchema: { type: "object", properties: { a: { pattern: "(" } } } }, /^outputSchema/],
    [{ outputSchema: { type: "object", properties: { a: { $ref: "#/$defs/none" } } } }, /^outputSchema/],
    [
      { outputSchema: { type: "object", properties: { a: { $ref: "https://a.example/s.json" } } } },
      /^outputSchema/,
    ],
    [{ outputSchema: { type: "object", allOf: [{ $ref: "#" }] } }, /^outputSchema/],
    [{ outputSchema: { type: "object", $async: true } }, /^outputSchema/],
    [{ tools: [] }, "tools: must be an object"],
    [{ tools: { only: [] } }, "tools.only: unknown field"],
    [{ tools: { include: "run_shell" } }, "tools.include: must be an array"],
    [{ tools: { include: [""] } }, "tools.include[0]: must not be empty"],
    [{ tools: { exclude: ["run_shell", 5] } }, "tools.exclude[1]: must be a string"],
    [{ tools: { exclude: [null] } }, "tools.exclude[0]: must be a string"],
    [{ tools: { include: names(129) } }, "tools.include: must hold at most 128 names"],
    [{ tools: { exclude: names(129) } }, "tools.exclude: must hold at most 128 names"],
    [
      { tools: { externalTurnExclude: names(129) } },
      "tools.externalTurnExclude: must hold at most 128 names",
    ],
    [{ systemPrompt: 5 }, "systemPrompt: must be a string"],
    [{ systemPrompt: "x".repeat(20_001) }, "systemPrompt: must be at most 20,000 characters"],
    [{ systemPrompt: "😀".repeat(20_001) }, "systemPrompt: must be at most 20,000 characters"],
    [{ mcpServers: [] }, "mcpServers: must be an object"],
    [{ mcpServers: { crm: null } }, "mcpServers.crm: must be an object"],
    [{ mcpServers: { crm: {} } }, "mcpServers.crm.url: is required"],
    [{ mcpServers: { crm: { url: "http://crm.example/mcp" } } }, "mcpServers.crm.url: must be https"],
    [
      { mcpServers: { crm: { url: "https://k:v@crm.example/mcp" } } },
      /^mcpServers\.crm\.url: must not contain credentials/,
    ],
    [{ mcpServers: { crm: { url, type: "stdio" } } }, 'mcpServers.crm.type: must be "http" or "sse"'],
    [{ mcpServers: { crm: { url, token: "x" } } }, "mcpServers.crm.token: unknown field"],
    [{ mcpServers: { crm: { url, headers: [] } } }, "mcpServers.crm.headers: must be an object"],
    [{ mcpServers: { crm: { url, headers: { a: 5 } } } }, "mcpServers.crm.headers.a: must be a string"],
    [
      {
        mcpServers: {
          builtin: { url, auth: { type: "client_credentials", clientId: "a", clientSecret: "b" } },
        },
      },
      "mcpServers.builtin.auth: not allowed: the session's own user token is the credential",
    ],
    [
      { mcpServers: { crm: { url, headers: { "a b": "x" } } } },
      'mcpServers.crm.headers["a b"]: is not a valid header name',
    ],
    [
      { mcpServers: { crm: { url, headers: { a: "x\r\nHost: y" } } } },
      "mcpServers.crm.headers.a: is not a valid header value",
    ],
    [
      { mcpServers: { crm: { url, headers: headers(21) } } },
      "mcpServers.crm.headers: must hold at most 20 headers",
    ],
    [{ mcpServers: servers(11) }, "mcpServers: must hold at most 10 servers"],
    [{ mcpServers: { CRM: { url } } }, "mcpServers.CRM: the server id must match [a-z0-9][a-z0-9_-]{0,31}"],
    [{ mcpServers: { _crm: { url } } }, /^mcpServers\._crm: the server id must match/],
    [{ mcpServers: { ["a".repeat(33)]: { url } } }, /the server id must match/],
    [{ mcpServers: { "": { url } } }, /^mcpServers\[""\]: the server id must match/],
    [{ mcpServers: { builtin: { url, headers: {} } } }, /^mcpServers\.builtin\.headers: /],
    [{ mcpServers: { builtin: { url, headers: { a: "b" } } } }, /^mcpServers\.builtin\.headers: /],
    [{ mcpServers: { builtin: { url, type: "sse" } } }, /^mcpServers\.builtin\.type: /],
    [{ mcpServers: { builtin: { url: "http://t.example/" } } }, "mcpServers.builtin.url: must be https"],
    [{ capabilities: true }, "capabilities: must be an object"],
    [{ capabilities: { browser: "yes" } }, "capabilities.browser: must be a boolean"],
    [{ capabilities: { sandbox: null } }, "capabilities.sandbox: must be a boolean"],
    [{ capabilities: { network: true } }, "capabilities.network: unknown field"],
    [{ capabilities: { sandbox: false, browser: true } }, /^capabilities: /],
    [{ subAgents: "true" }, "subAgents: must be a boolean"],
    [{ subAgents: 1 }, "subAgents: must be a boolean"],
    [{ subAgents: null }, "subAgents: must be a boolean"],
    [{ delegation: 4 }, "delegation: must be an object"],
    [{ delegation: { maxLive: 4 } }, "delegation.maxLive: unknown field"],
    [{ delegation: { maxLiveChildren: -1 } }, "delegation.maxLiveChildren: must be an integer >= 0"],
    [{ delegation: { maxLiveChildren: 1.5 } }, "delegation.maxLiveChildren: must be an integer >= 0"],
    [{ delegation: { maxLiveBrowsers: "2" } }, "delegation.maxLiveBrowsers: must be an integer >= 0"],
    [{ delegation: { maxLiveBrowsers: null } }, "delegation.maxLiveBrowsers: must be an integer >= 0"],
    [
      { delegation: { maxLiveChildren: 5 } },
      "delegation.maxLiveChildren: 5 exceeds the deployment ceiling DELEGATION_MAX_LIVE_CHILDREN=4",
    ],
    [
      { delegation: { maxLiveBrowsers: 5 } },
      "delegation.maxLiveBrowsers: 5 exceeds the deployment ceiling DELEGATION_MAX_LIVE_BROWSERS=4",
    ],
    [
      { delegation: { maxLiveChildren: 1, maxLiveBrowsers: 2 } },
      "delegation.maxLiveBrowsers (2) must be <= maxLiveChildren (1)",
    ],
  ];

  test("is 400 with a sentence that names the field, for every field and rule, and writes nothing", async () => {
    test.slow();
    const before = await countSessions();
    for (const [fields, error] of refused)
      await test.step(JSON.stringify(fields).slice(0, 100), async () => {
        await expectRefusal(await create({ messages, ...fields }), 400, "invalid_request", error);
      });
    expect(await countSessions()).toBe(before);
  });

  test("includes callbacks to loopback, private-range and link-local hosts in every notation", async () => {
    for (const host of [
      "localhost",
      "localhost.",
      "LOCALHOST:8080",
      "app.localhost",
      "0.0.0.0",
      "0",
      "127.1.1.1",
      "2130706434",
      "0x7f.2",
      "0177.0.0.2",
      "127.2",
      "10.0.0.1",
      "172.16.5.4",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "[::1]",
      "[::]",
      "[::ffff:10.0.0.1]",
      "[::ffff:a00:1]",
      "[fe80::1]",
      "[fd00::1]",
      "[64:ff9b::10.0.0.1]",
      "[2002:a00:1::]",
      "224.0.0.1",
      "255.255.255.255",
      "１０.0.0.1",
    ])
      await test.step(host, async () => {
        const response = await create({ messages, callback: { url: `http://${host}/hook` } });
        await expectRefusal(response, 400, "invalid_request", /^callback\.url: /);
      });
  });
});

test.describe("bodies", () => {
  const valid = JSON.stringify({ messages });
  const withMetadata = (json: string) => `{"messages":${JSON.stringify(messages)},"metadata":${json}}`;
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
  const refused: [string, string | Buffer, string][] = [
    ["nothing", "", "body: must not be empty"],
    ["white space", " \n ", "body: must not be empty"],
    ["a word", "hello", "body: must be valid JSON"],
    ["an unfinished object", '{"messages":[', "body: must be valid JSON"],
    ["single quotes", "{'messages':[]}", "body: must be valid JSON"],
    ["a trailing comma", `${valid.slice(0, -1)},}`, "body: must be valid JSON"],
    ["a comment", `/* hi */${valid}`, "body: must be valid JSON"],
    ["two values", `${valid}${valid}`, "body: must be valid JSON"],
    ["NaN", withMetadata('{"a":NaN}'), "body: must be valid JSON"],
    ["null", "null", "body: must be an object"],
    ["an array", `[${valid}]`, "body: must be an object"],
    ["a string", '"x"', "body: must be an object"],
    ["bytes that are not UTF-8", bytes('{"messages":"', [0xff, 0xfe], '"}'), "body: must be UTF-8"],
    ["UTF-16", Buffer.from(valid, "utf16le"), "body: must be valid JSON"],
    ["a surrogate in UTF-8", bytes('{"a":"', [0xed, 0xa0, 0x80], '"}'), "body: must be UTF-8"],
    ["an escaped NUL", withMetadata('{"a":"\\u0000"}'), "metadata.a: must not contain NUL characters"],
    [
      "an escaped NUL in a key",
      withMetadata('{"\\u0000":1}'),
      'metadata["\\u0000"]: must not contain NUL characters',
    ],
    [
      "a lone surrogate",
      withMetadata('{"a":["\\ud83d"]}'),
      "metadata.a[0]: must be well-formed Unicode (it holds a lone surrogate)",
    ],
    [
      "a __proto__ key",
      withMetadata('{"__proto__":{"admin":true}}'),
      "metadata.__proto__: is not an allowed key",
    ],
    [
      "an escaped __proto__ key",
      withMetadata('{"\\u005f_proto__":1}'),
      "metadata.__proto__: is not an allowed key",
    ],
    ["a number beyond a double", withMetadata('{"n":1e999}'), "metadata.n: is too large a number"],
    ["bottomless nesting", withMetadata("[".repeat(100_000)), "metadata: is nested deeper than 200 levels"],
    [
      "millions of values",
      `{"messages":[${"0,".repeat(1_000_000)}0]}`,
      "body: holds more than 200,000 values",
    ],
  ];
  test("that are not valid JSON or break a general rule are 400 with the reason, and write nothing", async () => {
    const before = await countSessions();
    for (const [what, body, error] of refused)
      await test.step(what, async () => {
        const response = await fetch(`${service.baseUrl}/api/session`, {
          method: "POST",
          headers: {
            authorization: "Bearer key-of-the-end-to-end-tests",
            "content-type": "application/json",
          },
          body: typeof body === "string" ? body : new Uint8Array(body),
        });
        await expectRefusal(response, 400, "invalid_request", error);
      });
    expect(await countSessions()).toBe(before);
  });

  test("over 8 MiB are 413, with or without a Content-Length", async () => {
    const tooMuch = "x".repeat(8 * 1024 * 1024 + 1);
    await expectRefusal(await create(tooMuch), 413, "payload_too_large", "body: must be at most 8,192 KiB");
    const streamed = await fetch(`${service.baseUrl}/api/session`, {
      method: "POST",
      headers: { authorization: "Bearer key-of-the-end-to-end-tests", "content-type": "application/json" },
      body: new Blob([tooMuch]).stream(),
      duplex: "half",
    } as RequestInit);
    await expectRefusal(streamed, 413, "payload_too_large");
  });

  test("of another content type are 415; parameters and +json types are accepted", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/jsonx",
      "",
    ])
      await expectRefusal(await create(valid, { "content-type": type }), 415, "unsupported_media_type");
    for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"])
      expect((await create(valid, { "content-type": type })).status).toBe(201);
  });

  test("may have a byte order mark, a repeated key (the last one counts) and large numbers", async () => {
    expect((await create(`\ufeff${valid}`)).status).toBe(201);
    expect((await create(`{"messages":5,${valid.slice(1)}`)).status).toBe(201);
    expect((await create(withMetadata('{"n":1e308,"m":12345678901234567890}'))).status).toBe(201);
  });
});

test.describe("an idempotencyKey", () => {
  test("makes 50 equal requests at once create one session: one 201, then 200 with the same answer, marked as replayed", async () => {
    const before = await countSessions();
    const body = { messages, metadata: { a: 1, b: 2 }, idempotencyKey: "fifty" };
    const responses = await Promise.all(repeat(50, () => create(body)));
    expect(responses.filter((response) => response.status === 201)).toHaveLength(1);
    expect(responses.filter((response) => response.status === 200)).toHaveLength(49);
    for (const response of responses)
      expect(response.headers.get("idempotency-replayed")).toBe(response.status === 200 ? "true" : null);
    const answers = new Set(await Promise.all(responses.map((response) => response.text())));
    expect(answers.size).toBe(1);
    expect(await countSessions()).toBe(before + 1);
  });

  test("matches a body with its fields in any order, and is 422 for another body", async () => {
    const key = { idempotencyKey: "ordered" };
    const first = await create({ messages, metadata: { a: 1, b: { c: 2, d: 3 } }, ...key });
    const replay = await create({ ...key, metadata: { b: { d: 3, c: 2 }, a: 1 }, messages });
    expect([first.status, replay.status]).toEqual([201, 200]);
    expect(await replay.json()).toEqual(await first.json());
    for (const other of [
      { messages, metadata: { a: 1 }, ...key },
      { messages, ...key },
      { messages: [{ ...messages[0], id: "1" }], metadata: { a: 1, b: { c: 2, d: 3 } }, ...key },
    ])
      await expectRefusal(await create(other), 422, "idempotency_key_reused", /^idempotencyKey: /);
  });

  test("belongs to the owner of the API key", async () => {
    const body = { messages, idempotencyKey: "mine" };
    const mine = await create(body);
    const theirs = await create(body, { authorization: `Bearer ${OTHER_KEY}` });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect((await mine.json()).sessionId).not.toBe((await theirs.json()).sessionId);
  });

  test("is not used up by a refused request", async () => {
    await expectRefusal(await create({ messages: [], idempotencyKey: "later" }), 400, "invalid_request");
    expect((await create({ messages, idempotencyKey: "later" })).status).toBe(201);
  });
});
