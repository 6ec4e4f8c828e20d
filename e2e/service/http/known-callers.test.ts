import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isKnownCaller } from "#lib/api/http/known-caller.ts";
import { openTestService, say, TEST_KEY, type TestService } from "../testing.ts";

let service: TestService;
let session: Awaited<ReturnType<TestService["create"]>>;

before(async () => {
  service = await openTestService();
  service.model.respondWith(() => say("Done."));
  session = await service.create("hello");
  await service.completed(session.statusUrl);
});
after(() => service.close());

/** Reads the agent status with these headers. @returns the status, and whether the caller counts as known. */
async function read(headers: Record<string, string>, sessionId = session.sessionId) {
  const request = new Request(`${service.env.baseUrl}/api/sessions/${sessionId}/agent/status`, { headers });
  const response = await service.container.mounted.serve({ GET: "readAgentStatus" }, request, { sessionId });
  return [response.status, isKnownCaller(request)];
}

test("a caller with a valid credential is known, however the credential is sent", async () => {
  assert.deepEqual(await read({ authorization: `Bearer ${TEST_KEY}` }), [200, true]);
  assert.deepEqual(await read({ "x-service-api-key": TEST_KEY }), [200, true]);
  assert.deepEqual(await read({ "x-service-api-key": TEST_KEY }, "ses_none"), [404, true]);
});

test("a made-up credential makes no caller known", async () => {
  for (const headers of [
    {},
    { cookie: "share=none" },
    { authorization: "none" },
    { authorization: "Bearer none" },
  ])
    assert.deepEqual(await read(headers as Record<string, string>), [401, false]);
});
