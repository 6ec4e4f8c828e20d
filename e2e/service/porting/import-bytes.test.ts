import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { exportSession, imported, importInto } from "./porting-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ IMPORTS_SESSION_MIB: "1", IMPORTS_OWNER_MIB: "2" });
});
after(() => service.close());

/** Exports a session and adds a message of about 600 KiB to the document. */
async function largeExport(id: string) {
  const session = await openSession();
  const document = await exportSession(service, session.sessionId);
  const [message] = document.messages;
  assert.ok(message);
  const parts = [{ type: "text" as const, text: "a".repeat(600 * 1_024) }];
  return { ...document, id, messages: [{ ...message, parts }] };
}

async function openSession(headers: Record<string, string> = {}) {
  const body = { messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }] };
  const answer = await service.call("POST", "/api/session", body, headers);
  return (await answer.json()) as { sessionId: string };
}

const countImports = async (sessionId: string) =>
  (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/imports`)).data.length;

describe("the limit of imported bytes", () => {
  it("applies to a session; a document that it has already imported does not count again", async () => {
    const { sessionId } = await openSession();
    const document = await largeExport("first");
    await imported(service, sessionId, document);
    const refused = await importInto(service, sessionId, { ...document, id: "second" });
    assert.equal(refused.status, 409);
    assert.deepEqual(await refused.json(), {
      success: false,
      code: "conflict",
      error:
        "document: with it the imports of the session would have 1.2 MiB; a session may have 1.0 MiB (IMPORTS_SESSION_MIB)",
    });
    assert.equal(await countImports(sessionId), 1);
    await imported(service, sessionId, document, 200);
  });

  it("applies to all sessions of an owner, also when they import at the same time", async () => {
    const document = await largeExport("parallel");
    const sessions = await Promise.all(Array.from({ length: 4 }, () => openSession()));
    const answers = await Promise.all(
      sessions.map(({ sessionId }) => importInto(service, sessionId, document)),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    // Only two more documents fit, because the previous test has stored 0.6 of the owner's 2 MiB.
    assert.deepEqual(statuses, [201, 201, 409, 409]);
    for (const answer of answers) {
      if (answer.status !== 409) continue;
      assert.match(
        ((await answer.json()) as { error: string }).error,
        /^document: with it the imports of the session's owner would have 2\.[34] MiB; an owner may have 2\.0 MiB \(IMPORTS_OWNER_MIB\)$/,
      );
    }
    const counts = await Promise.all(sessions.map(({ sessionId }) => countImports(sessionId)));
    assert.deepEqual(
      counts,
      answers.map(({ status }) => (status === 201 ? 1 : 0)),
    );
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    const { sessionId } = await openSession(other);
    const theirs = await service.call("POST", `/api/sessions/${sessionId}/import`, document, other);
    assert.equal(theirs.status, 201, await theirs.clone().text());
  });

  it("does not count the imports of a deleted session", async () => {
    const document = await largeExport("later");
    const { sessionId } = await openSession();
    assert.equal((await importInto(service, sessionId, document)).status, 409);
    const { data } = await service.read<{ data: { id: string }[] }>("/api/sessions?limit=100");
    for (const { id } of data) if (id !== sessionId) await service.call("DELETE", `/api/sessions/${id}`);
    await imported(service, sessionId, document);
  });
});
