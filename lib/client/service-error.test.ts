import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError, isTransient, readApiError } from "./service-error.ts";

const refusal = (status: number, message: string) => new ApiError({ status, code: "x", message });

test("the field of a refusal is the path at the start of its sentence", () => {
  const rows: [string, string | undefined][] = [
    ["subAgents: must be a boolean", "subAgents"],
    ["messages[0].parts[1].text: is required", "messages[0].parts[1].text"],
    ['metadata["a b"]: is wrong', 'metadata["a b"]'],
    ["delegation.maxLiveBrowsers (5) must be <= maxLiveChildren (2)", "delegation.maxLiveBrowsers"],
    ["url is required", "url"],
    ["body: must be valid JSON", undefined],
    ["invalid JSON body", undefined],
  ];
  for (const [sentence, field] of rows) assert.equal(refusal(400, sentence).field, field, sentence);
  assert.equal(refusal(404, "sessionId: is unknown").field, undefined);
});

test("an answer that the service did not write is described by its status", async () => {
  const proxy = await readApiError(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  assert.deepEqual([proxy.status, proxy.code, proxy.message], [502, "", "the service answered 502"]);
  const limited = new Response("{}", { status: 429, headers: { "retry-after": "3" } });
  assert.equal((await readApiError(limited)).retryAfterMs, 3_000);
});

test("a lost connection, a limit and a fault of the service are transient", () => {
  assert.ok(isTransient(new ConnectionError("gone")));
  for (const status of [429, 500, 502, 503]) assert.ok(isTransient(refusal(status, "later")));
  for (const status of [400, 401, 403, 404, 409]) assert.ok(!isTransient(refusal(status, "no")));
  assert.ok(!isTransient(new TypeError("a bug")));
});
