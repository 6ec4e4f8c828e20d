import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EnvError, readEnv, requireServerless } from "./env.ts";

const messageOf = (variables: Record<string, string>) => {
  try {
    readEnv(variables);
    return "accepted";
  } catch (error) {
    assert.ok(error instanceof EnvError);
    return error.message;
  }
};

describe("readEnv", () => {
  it("needs nothing at all", () => {
    const env = readEnv({});
    assert.equal(env.baseUrl, "http://127.0.0.1:3000");
    assert.equal(env.PORT, 3000);
    assert.deepEqual(env.SERVICE_API_KEYS, []);
    assert.equal(env.AGENT_MODEL_API, "responses");
  });

  it("leaves the context budget to the model unless it is set", () => {
    assert.equal(readEnv({}).AGENT_CONTEXT_TOKENS, undefined);
    assert.equal(readEnv({ AGENT_CONTEXT_TOKENS: "9000" }).AGENT_CONTEXT_TOKENS, 9_000);
  });

  it("takes an empty variable for an unset one", () => {
    assert.equal(readEnv({ PORT: "", DATABASE_URL: "" }).PORT, 3000);
  });

  for (const [name, value] of Object.entries({
    PORT: "http",
    BASE_URL: "not a url",
    DATABASE_URL: "nowhere",
    DATABASE_DRIVER: "mysql",
    AGENT_MODEL_API: "soap",
    ENCRYPTION_KEY: "c2hvcnQ=",
    DELEGATION_MAX_LIVE_CHILDREN: "-1",
    NETWORK_ALLOW: "10.0.0.0/99",
    SANDBOX: "docker",
    AGENT_MAX_STEPS: "0",
    LOG_LEVEL: "loud",
    TRUST_PROXY: "the proxy",
    RATE_LIMIT_FAILED_AUTH: "5000",
    MODEL_PRICES: '{ "gpt": { "input": -1 } }',
    OWNER_BUDGET_USD_PER_DAY: "much",
    FAULT: "K07",
  })) {
    it(`names ${name} when it cannot be used`, () =>
      assert.match(messageOf({ [name]: value }), new RegExp(`^${name}: `)));
  }

  it("requires BASE_URL when HOST is not loopback", () => {
    assert.match(messageOf({ HOST: "0.0.0.0" }), /^BASE_URL: /);
    const env = readEnv({ HOST: "0.0.0.0", BASE_URL: "https://agents.example/" });
    assert.equal(env.baseUrl, "https://agents.example");
    assert.equal(env.ownOrigin, "http://127.0.0.1:3000");
  });

  it("has pages on the public origin, or on one with another host name", () => {
    assert.equal(readEnv({ BASE_URL: "https://agents.example" }).pagesOrigin, "https://agents.example");
    const BASE_URL = "https://agents.example";
    const split = readEnv({ BASE_URL, PUBLIC_PAGES_ORIGIN: "https://pages.example/" });
    assert.equal(split.pagesOrigin, "https://pages.example");
    for (const PUBLIC_PAGES_ORIGIN of [BASE_URL, "https://agents.example:8443", "http://agents.example"])
      assert.match(messageOf({ BASE_URL, PUBLIC_PAGES_ORIGIN }), /^PUBLIC_PAGES_ORIGIN: must have another/);
    assert.match(messageOf({ PUBLIC_PAGES_ORIGIN: "ftp://pages.example" }), /^PUBLIC_PAGES_ORIGIN: must be/);
  });

  it("refuses faults in production unless they are allowed", () => {
    assert.match(messageOf({ FAULT: "K07:1:kill9" }), /^FAULT: .*FAULTS_ALLOWED/);
    assert.equal(readEnv({ FAULT: "K07:1:kill9", FAULTS_ALLOWED: "1" }).FAULT?.point, "probe-recorded");
    assert.equal(messageOf({ FAULT: "K07:1:kill9", NODE_ENV: "test" }), "accepted");
  });

  it("lets a turn play on for ever, but for less than a function may take on Vercel", () => {
    assert.equal(readEnv({}).turnBudgetMs, 0);
    assert.equal(readEnv({ VERCEL: "1" }).turnBudgetMs, 240_000);
    assert.equal(readEnv({ VERCEL: "1", TURN_BUDGET_MS: "50000" }).turnBudgetMs, 50_000);
  });

  it("reads owner=key, and makes a bare key an owner of its own", () => {
    const [first, second] = readEnv({ SERVICE_API_KEYS: "ada=abc, def" }).SERVICE_API_KEYS;
    assert.deepEqual(first, { ownerId: "ada", key: "abc" });
    assert.equal(second?.key, "def");
    assert.match(second?.ownerId ?? "", /^key:[0-9a-f]{16}$/);
  });
});

describe("requireServerless", () => {
  const variables = {
    DATABASE_URL: "postgres://db.example/service",
    INNGEST_EVENT_KEY: "event",
    INNGEST_SIGNING_KEY: "signkey-test-00",
    ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
    SERVICE_API_KEYS: "me=key",
    BASE_URL: "https://agents.example",
    BROWSER_CDP_URL: "wss://browsers.example",
    SANDBOX: "vercel",
  };

  it("is content with a database, an engine, keys, an address, a browser and a sandbox elsewhere", () => {
    requireServerless(readEnv(variables));
    requireServerless(readEnv({ ...variables, SANDBOX: "none" }));
  });

  for (const name of Object.keys(variables)) {
    it(`names ${name} where it is missing`, () =>
      assert.throws(
        () => requireServerless(readEnv({ ...variables, [name]: "" })),
        new RegExp(`${name}.* must be set`),
      ));
  }

  it("names all that is missing at once", () => {
    assert.throws(() => requireServerless(readEnv({})), /DATABASE_URL, .*ENCRYPTION_KEY, .*SANDBOX=vercel/);
  });
});
