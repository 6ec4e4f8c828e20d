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
  it("needs no variables", () => {
    const env = readEnv({});
    assert.equal(env.baseUrl, "http://127.0.0.1:3000");
    assert.equal(env.PORT, 3000);
    assert.deepEqual(env.SERVICE_API_KEYS, []);
    assert.equal(env.AGENT_MODEL_API, "responses");
  });

  it("knows origins that may show frames, written as browsers write them", () => {
    const origins = (EMBED_ORIGINS: string) => messageOf({ EMBED_ORIGINS });
    assert.deepEqual(readEnv({}).EMBED_ORIGINS, []);
    assert.deepEqual(readEnv({ EMBED_ORIGINS: "https://a.example, http://localhost:3001" }).EMBED_ORIGINS, [
      "https://a.example",
      "http://localhost:3001",
    ]);
    for (const text of ["a.example", "https://a.example/", "https://*.example;", "null", "http://[::1]:1"])
      assert.match(origins(text), /^EMBED_ORIGINS: must be origins without a path/, text);
    const many = Array.from({ length: 51 }, (_, index) => `https://a${index}.example`).join();
    assert.equal(origins(many), "EMBED_ORIGINS: must hold at most 50 origins");
  });

  it("knows browser hosts by encrypted addresses without credentials", () => {
    const token = { BROWSER_HOST_TOKEN: "t".repeat(32) };
    const hosts = (BROWSER_HOSTS: string) => messageOf({ ...token, BROWSER_HOSTS });
    assert.deepEqual(
      readEnv({ ...token, BROWSER_HOSTS: "wss://a.example:7411, ws://127.0.0.1:7411/,ws://[::1]:1" })
        .BROWSER_HOSTS,
      ["wss://a.example:7411", "ws://127.0.0.1:7411", "ws://[::1]:1"],
    );
    assert.equal(
      messageOf({ BROWSER_HOSTS: "wss://a.example" }),
      "BROWSER_HOST_TOKEN: is required with BROWSER_HOSTS",
    );
    assert.equal(
      messageOf({ BROWSER_WEBDRIVER: "false", BROWSER_CDP_URL: "https://browsers.example" }),
      "BROWSER_WEBDRIVER: must be unset with BROWSER_CDP_URL: the remote browser decides how it introduces itself",
    );
    const plain =
      "BROWSER_HOSTS: URL 1 of the list must begin with wss://, because ws:// is not encrypted; ws:// is accepted for loopback only";
    for (const url of ["ws://10.0.0.2:7411", "ws://a.example", "ws://127.0.0.1.example"])
      assert.equal(hosts(url), plain);
    const secret = hosts("wss://a.example,wss://user:hunter2@b.example");
    assert.equal(
      secret,
      "BROWSER_HOSTS: URL 2 of the list must contain no credentials; set BROWSER_HOST_TOKEN",
    );
    for (const url of [
      "https://a.example",
      "a.example:7411",
      "wss://a.example/path",
      "wss://a.example?token=x",
    ])
      assert.equal(
        hosts(url),
        "BROWSER_HOSTS: URL 1 of the list must be a URL such as wss://browsers-1.example:7411, without a path",
      );
    assert.match(
      messageOf({ BROWSER_HOST_TOKEN: "short" }),
      /^BROWSER_HOST_TOKEN: must have at least 32 characters/,
    );
  });

  it("leaves the context budget to the model unless it is set", () => {
    assert.equal(readEnv({}).AGENT_CONTEXT_TOKENS, undefined);
    assert.equal(readEnv({ AGENT_CONTEXT_TOKENS: "9000" }).AGENT_CONTEXT_TOKENS, 9_000);
  });

  it("leaves the output limit to the provider unless it is set", () => {
    assert.equal(readEnv({}).AGENT_MAX_OUTPUT_TOKENS, undefined);
    assert.equal(readEnv({ AGENT_MAX_OUTPUT_TOKENS: "4096" }).AGENT_MAX_OUTPUT_TOKENS, 4_096);
    for (const value of ["0", "-5", "1.5", "many"])
      assert.match(messageOf({ AGENT_MAX_OUTPUT_TOKENS: value }), /^AGENT_MAX_OUTPUT_TOKENS: must be /);
  });

  it("reads the tools to exclude from external turns, and refuses what is no name", () => {
    assert.deepEqual(readEnv({}).EXTERNAL_TURN_EXCLUDE, []);
    const { EXTERNAL_TURN_EXCLUDE } = readEnv({ EXTERNAL_TURN_EXCLUDE: " publish_variant, mcp_crm__*,*," });
    assert.deepEqual(EXTERNAL_TURN_EXCLUDE, ["publish_variant", "mcp_crm__*", "*"]);
    for (const entry of ["publish variant", "mcp_*_pay", "**", "publish_variant;run_shell", "[a]"])
      assert.equal(
        messageOf({ EXTERNAL_TURN_EXCLUDE: `run_shell,${entry}` }),
        `EXTERNAL_TURN_EXCLUDE: ${JSON.stringify(entry)} must be the name of a tool, or the beginning of names with a * at its end, such as mcp_crm__*`,
      );
    assert.equal(
      messageOf({ EXTERNAL_TURN_EXCLUDE: Array(129).fill("a").join() }),
      "EXTERNAL_TURN_EXCLUDE: must hold at most 128 names",
    );
  });

  it("treats an empty variable as unset", () => {
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
    LOGIN_IDLE_MINUTES: "0",
    OIDC_ISSUER: "not a url",
    TRUST_PROXY: "the proxy",
    RATE_LIMIT_FAILED_AUTH: "5000",
    MODEL_PRICES: '{ "gpt": { "input": -1 } }',
    OWNER_BUDGET_USD_PER_DAY: "much",
    FAULT: "K07",
  })) {
    it(`names ${name} if its value is invalid`, () =>
      assert.match(messageOf({ [name]: value }), new RegExp(`^${name}: `)));
  }

  it("requires all settings of an identity provider, and https", () => {
    assert.equal(readEnv({}).oidc, undefined);
    const all = {
      OIDC_ISSUER: "https://id.example",
      OIDC_CLIENT_ID: "service",
      OIDC_CLIENT_SECRET: "secret",
      OIDC_ALLOW: "ada@example.com, sub:00u1",
    };
    assert.deepEqual(readEnv(all).oidc, {
      issuer: "https://id.example",
      clientId: "service",
      clientSecret: "secret",
      allow: ["ada@example.com", "sub:00u1"],
    });
    for (const name of Object.keys(all))
      assert.match(messageOf({ ...all, [name]: "" }), new RegExp(`^${name}: is required`));
    assert.match(
      messageOf({ ...all, OIDC_ISSUER: "http://id.example" }),
      /^OIDC_ISSUER: must be an https URL/,
    );
    assert.equal(messageOf({ ...all, OIDC_ISSUER: "http://localhost:8080" }), "accepted");
    for (const entry of ["ada", "sub:", "@example.com", "*"])
      assert.match(messageOf({ ...all, OIDC_ALLOW: entry }), /^OIDC_ALLOW: .* must be an e-mail address/);
  });

  it("requires BASE_URL when HOST is not loopback", () => {
    assert.match(messageOf({ HOST: "0.0.0.0" }), /^BASE_URL: /);
    const env = readEnv({ HOST: "0.0.0.0", BASE_URL: "https://agents.example/" });
    assert.equal(env.baseUrl, "https://agents.example");
    assert.equal(env.ownOrigin, "http://127.0.0.1:3000");
  });

  it("serves landing pages from the public origin, or from one with another host name", () => {
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

  it("does not limit turns, except on Vercel to less than the time limit of a function", () => {
    assert.equal(readEnv({}).turnBudgetMs, 0);
    assert.equal(readEnv({ VERCEL: "1" }).turnBudgetMs, 240_000);
    assert.equal(readEnv({ VERCEL: "1", TURN_BUDGET_MS: "50000" }).turnBudgetMs, 50_000);
    assert.equal(readEnv({}).turnLimitMs, 0);
    assert.equal(readEnv({ VERCEL: "1" }).turnLimitMs, 300_000);
    assert.equal(readEnv({ VERCEL: "1", TURN_BUDGET_MS: "700000" }).turnLimitMs, 760_000);
    assert.equal(readEnv({ TURN_LIMIT_MS: "60000" }).turnLimitMs, 60_000);
    assert.throws(
      () => readEnv({ TURN_BUDGET_MS: "60000", TURN_LIMIT_MS: "60000" }),
      /TURN_BUDGET_MS: must be less than TURN_LIMIT_MS/,
    );
  });

  it("refuses a time limit without time for a step, and two sources of Vercel Sandbox", () => {
    assert.equal(messageOf({ TURN_LIMIT_MS: "10000" }), "TURN_LIMIT_MS: must be 0, or more than 10000");
    assert.equal(readEnv({ VERCEL: "1", TURN_LIMIT_MS: "0" }).turnLimitMs, 0);
    assert.equal(
      messageOf({ VERCEL_SANDBOX_SNAPSHOT: "snap_1", VERCEL_SANDBOX_IMAGE: "own" }),
      "VERCEL_SANDBOX_IMAGE: must be unset with VERCEL_SANDBOX_SNAPSHOT",
    );
  });

  it("reads previous encryption keys", () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const previous = `${one.toString("base64")}, ${two.toString("base64")}`;
    assert.deepEqual(readEnv({ ENCRYPTION_KEY_PREVIOUS: previous }).ENCRYPTION_KEY_PREVIOUS, [one, two]);
    assert.deepEqual(readEnv({}).ENCRYPTION_KEY_PREVIOUS, []);
    assert.equal(
      messageOf({ ENCRYPTION_KEY_PREVIOUS: `${one.toString("base64")},c2hvcnQ=` }),
      "ENCRYPTION_KEY_PREVIOUS: must be keys of 32 bytes in base64, comma-separated",
    );
  });

  it("reads owner=key, and derives an owner from a bare key", () => {
    const [ada, bare] = ["4f1d0e6b9a2c7f3058d1", "c07a6e1f94b83d25f0ae"];
    const [first, second] = readEnv({ SERVICE_API_KEYS: `ada=${ada}, ${bare}` }).SERVICE_API_KEYS;
    assert.deepEqual(first, { ownerId: "ada", key: ada });
    assert.equal(second?.key, bare);
    assert.match(second?.ownerId ?? "", /^key:[0-9a-f]{16}$/);
  });

  it("refuses API keys under 20 characters without repeating them", () => {
    const good = "4f1d0e6b9a2c7f3058d1";
    for (const keys of ["abc", `ada=${good},bob=hunter2`, `${good.slice(1)}`, `ada=`, `${good}==`]) {
      const message = messageOf({ SERVICE_API_KEYS: keys });
      assert.match(
        message,
        /^SERVICE_API_KEYS: key [12] of the list has \d+ characters, but a key must have at least 20, such as /,
        keys,
      );
      assert.ok(!/abc|hunter2|4f1d/.test(message), message);
    }
    assert.match(messageOf({ SERVICE_API_KEYS: `ada=${good},bob=hunter2` }), /key 2 of the list has 7 /);
    assert.equal(messageOf({ SERVICE_API_KEYS: `ada=${good}` }), "accepted");
  });
});

describe("requireServerless", () => {
  const variables = {
    DATABASE_URL: "postgres://db.example/service",
    INNGEST_EVENT_KEY: "event",
    INNGEST_SIGNING_KEY: "signkey-test-00",
    ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
    SERVICE_API_KEYS: "me=4f1d0e6b9a2c7f3058d1",
    BASE_URL: "https://agents.example",
    BROWSER_CDP_URL: "wss://browsers.example",
    SANDBOX: "vercel",
  };

  it("accepts settings with an external database, engine, browser and sandbox, and with keys and BASE_URL", () => {
    requireServerless(readEnv(variables));
    requireServerless(readEnv({ ...variables, SANDBOX: "none" }));
    const boxed = { ...variables, BROWSER_CDP_URL: "", VERCEL_SANDBOX_SNAPSHOT: "snap_1" };
    requireServerless(readEnv(boxed));
    assert.throws(
      () => requireServerless(readEnv({ ...boxed, SANDBOX: "none" })),
      /BROWSER_CDP_URL.* must be set/,
    );
  });

  for (const name of Object.keys(variables)) {
    it(`names ${name} if it is missing`, () =>
      assert.throws(
        () => requireServerless(readEnv({ ...variables, [name]: "" })),
        new RegExp(`${name}.* must be set`),
      ));
  }

  it("refuses commands and scripts without confinement", () => {
    assert.throws(
      () => requireServerless(readEnv({ ...variables, SANDBOX: "unconfined" })),
      /SANDBOX=vercel/,
    );
  });

  it("names all missing variables at once", () => {
    assert.throws(() => requireServerless(readEnv({})), /DATABASE_URL, .*ENCRYPTION_KEY, .*SANDBOX=vercel/);
  });
});
