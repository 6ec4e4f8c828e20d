import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import type { z } from "zod";
import { settingsKeyId } from "#lib/api/auth/authenticate.ts";
import { contract } from "#lib/api/contract/contract.ts";
import type { Operation } from "#lib/api/contract/operation.ts";
import { FILE_PATH } from "#lib/api/contract/paths.ts";
import { formatPath } from "#lib/api/http/validate.ts";
import { variantKeySchema } from "#lib/variant/document.ts";
import { openTestService, signIn, TEST_KEY, type TestService } from "../testing.ts";
import { BROKEN_JSON, listMalformed, sampleBodies } from "./malformed-testing.ts";

// The tests are generated from the contract, so they cover new operations too.

let service: TestService;
/** A session with a sub-agent, which the operations on sub-agents need. */
let session: { sessionId: string; requestId: string; shareUrl: string; agentId: string };
let operator: string;
/** The cookie of a person who signed in with the key of the tests, and may change the session. */
let person: string;

before(async () => {
  // The actions of one signed-in person have a rate.
  service = await openTestService({ RATE_LIMIT_ACT: "0" });
  service.model.respondWith(({ userText, answersSoFar }) =>
    userText.includes("mine") && answersSoFar === 0
      ? { toolCalls: [{ name: "spawn_agents", arguments: { agents: [{ objective: "be there" }] } }] }
      : { text: "Done." },
  );
  const created = await service.create("mine", { subAgents: true });
  await service.completed(created.statusUrl);
  const { agents } = await service.read<{ agents: { agentId: string }[] }>(
    `/api/sessions/${created.sessionId}/agents`,
  );
  session = { ...created, agentId: agents[0]?.agentId ?? "" };
  operator = await signIn(service);
  const cookie = await service.container.services.login.signInWithKey(settingsKeyId(TEST_KEY));
  person = cookie.split(";")[0] ?? "";
});
after(() => service.close());

const all = Object.entries(contract).map(([name, operation]) => ({
  name,
  operation: operation as Operation,
}));
const withBody = all.flatMap(({ name, operation }) => {
  const schema = operation.bodyShownAs ?? operation.body;
  return schema ? [{ name, operation, schema: schema as z.ZodType }] : [];
});

const pathOf = ({ path }: Operation) =>
  path.replace(/:(\w+)/g, (_, name: string) => ({ ...session })[name as "sessionId"] ?? `none-${name}`);

function credentialsOf({ auth }: Operation): Record<string, string> {
  const origin = service.env.baseUrl;
  const token = new URL(session.shareUrl, origin).searchParams.get("key");
  if (auth.kind === "login") return { authorization: "", cookie: operator, origin };
  if (auth.kind === "person") return { authorization: "", cookie: person, origin };
  if (auth.kind === "share" && !auth.orKey) return { authorization: "", cookie: `share=${token}`, origin };
  return { authorization: `Bearer ${TEST_KEY}` };
}

async function send(
  operation: Operation,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const init = { "content-type": "application/json", ...credentialsOf(operation), ...headers };
  const response = await service.call(operation.method, pathOf(operation), body as string, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Counts the rows of every table, except tables that change without a request. */
async function countAll(): Promise<unknown> {
  const { db } = service.container.services;
  const tables = await db.execute(
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const names = (tables as unknown as { rows: { name: string }[] }).rows.map(({ name }) => name);
  const counts = names
    // Leaves out the tables to which the engine's sweep and the rate limits write.
    .filter((name) => !name.startsWith("engine_") && name !== "rate_buckets")
    .map((name) => sql`select ${name} as name, count(*)::int as count from ${sql.identifier(name)}`);
  const counted = await db.execute(sql`${sql.join(counts, sql` union all `)} order by 1`);
  return (counted as unknown as { rows: unknown[] }).rows;
}

/**
 * Checks that an answer is a 4xx with an error sentence. If the operation declares a bare error for the status, the
 * body has only the field `error`. Otherwise the error is in the error envelope.
 */
function assertRefused(
  operation: Operation,
  answer: { status: number; body: Record<string, unknown> },
  what: string,
) {
  const { status, body } = answer;
  assert.ok(status >= 400 && status < 500, `${what}: ${status} ${JSON.stringify(body)}`);
  assert.equal(typeof body.error, "string", what);
  assert.match(String(body.error), /^\S.{3,}/su, what);
  assert.ok(String(body.error).length < 1_000, `${what}: the error is too long`);
  assert.doesNotMatch(String(body.error), /\bat .*\.ts|node_modules|drizzle|zod|Error:/i, what);
  if (operation.bare?.[status] !== undefined) assert.deepEqual(Object.keys(body), ["error"], what);
  else assert.deepEqual([body.success, typeof body.code], [false, "string"], what);
}

describe("a malformed body", () => {
  it("of every class of invalid JSON is a 4xx with a sentence at every operation, and writes nothing", async () => {
    const before = await countAll();
    for (const { name, operation } of withBody)
      for (const broken of BROKEN_JSON) {
        const answer = await send(operation, broken);
        const shown = `${name} ${typeof broken === "string" ? broken.slice(0, 60) : Buffer.from(broken).toString("hex")}`;
        // The success shows that the body is valid, so it does not belong in `BROKEN_JSON`.
        if (answer.status === 202 || answer.status === 200) assert.fail(shown);
        assertRefused(operation, answer, shown);
      }
    assert.deepEqual(await countAll(), before);
  });

  it("with a wrong value at any path is a 4xx that names the field at every operation, and writes nothing", async () => {
    const before = await countAll();
    let sent = 0;
    for (const { name, operation, schema } of withBody) {
      assert.ok(sampleBodies(schema).length > 0, `${name} has no valid sample body`);
      for (const { path, body } of listMalformed(schema)) {
        sent++;
        const text = JSON.stringify(body);
        const answer = await send(operation, text);
        const shown = `${name} ${formatPath(path, "body")} ${text.slice(0, 200)}`;
        assertRefused(operation, answer, `${shown} -> ${JSON.stringify(answer.body)}`);
        if (!operation.bare) assertNames(String(answer.body.error), path, shown);
      }
    }
    assert.ok(sent > 800, `${sent} bodies`);
    assert.deepEqual(await countAll(), before);
  });
});

/**
 * Checks that the error begins with `path`, with a parent of `path`, or with a path below `path`. If the body may have
 * several forms, the error may name the field that distinguishes the forms.
 */
function assertNames(error: string, path: PropertyKey[], shown: string): void {
  const [named = ""] = error.split(": ");
  const place = formatPath(path, "body");
  const isNear = named === "body" || place === "body" || named.startsWith(place) || place.startsWith(named);
  const namesForm = path.length === 1 && /^\w+: is required|^action: must be one of/.test(error);
  assert.ok(isNear || namesForm, `${shown} -> ${error}`);
}

describe("malformed parameters", () => {
  const ODD = [
    "",
    " ",
    "-1",
    "1.5",
    "1e3",
    "NaN",
    "null",
    "0x10",
    "9".repeat(40),
    "\u0000",
    "\ufffd",
    "x".repeat(5_000),
    "__proto__",
    "[]",
    "{}",
    "' or 1=1--",
    "../../etc/passwd",
    "%",
    "\u202e",
    "whd-",
    "ses_",
    "2147483648",
    "１",
  ];

  it("in a query are a 400 that names the parameter unless they are valid, and never a 500", async () => {
    for (const { name, operation } of all)
      for (const parameter of Object.keys(operation.query?.shape ?? {}))
        for (const odd of ODD) {
          const query = new URLSearchParams({ [parameter]: odd });
          const response = await service.call(
            operation.method,
            `${pathOf(operation)}?${query}`,
            undefined,
            credentialsOf(operation),
          );
          const shown = `${name} ${parameter}=${odd.slice(0, 40)}`;
          assert.ok(response.status < 500, `${shown}: ${response.status}`);
          const isValid = operation.query?.safeParse({ [parameter]: odd }).success;
          if (!isValid) {
            assert.equal(response.status, 400, shown);
            assert.match((await response.json()).error, new RegExp(`^${parameter}: `), shown);
          } else await response.body?.cancel();
        }
  });

  it("in a path are 404", async () => {
    for (const { name, operation } of all)
      for (const [, parameter = ""] of operation.path.matchAll(/:(\w+)/g))
        for (const odd of ODD) {
          // The path of a file may be any text.
          if (odd === "" || odd === "%" || parameter === FILE_PATH) continue;
          // `importVariant` creates a variant with the key in its path, so a valid key is no error there.
          if (name === "importVariant" && variantKeySchema.safeParse(odd).success) continue;
          const path = pathOf({
            ...operation,
            path: operation.path.replace(`:${parameter}`, encodeURIComponent(odd)),
          });
          const samples = operation.body ? sampleBodies(operation.bodyShownAs ?? operation.body) : [];
          // An operation with `bodyShownAs` validates the body in its handler, and needs a sample with all optional
          // fields.
          const sample = operation.bodyShownAs ? Object.assign({}, ...samples) : samples[0];
          const body = sample && JSON.stringify(sample);
          const response = await service.call(operation.method, path, body, credentialsOf(operation));
          assert.equal(
            response.status,
            404,
            `${name} ${parameter}=${odd.slice(0, 40)} ${await response.text()}`,
          );
        }
  });
});
