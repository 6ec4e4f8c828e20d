import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OTHER_KEY, openTestService, type TestService, userMessage, waitUntil } from "../testing.ts";

let service: TestService;
let release: () => void = () => {};
before(async () => {
  service = await openTestService({
    OWNER_OPEN_SESSIONS: "1",
    OWNER_STORED_SESSIONS: "2",
    ANNOTATIONS_SESSION_MAX: "2",
  });
});
after(async () => {
  release();
  await service.close();
});

const body = { messages: [userMessage("go")], capabilities: { browser: false } };
const create = (headers = {}) => service.call("POST", "/api/session", body, headers);
const readError = async (response: Response) => {
  const { success, error, code } = (await response.json()) as Record<string, unknown>;
  return [response.status, success, code, error];
};

describe("limits of an owner and of a session", () => {
  it("refuse a session beyond the open or stored ones with 409, until a turn ends or a session is deleted", async () => {
    const { promise: hold, resolve } = Promise.withResolvers<void>();
    release = resolve;
    service.model.respondWith(() => ({ text: "Done.", hold }));
    const first = await service.create("go", { capabilities: { browser: false } });
    assert.deepEqual(await readError(await create()), [
      409,
      false,
      "conflict",
      "the owner of this key has 1 session with an open turn; an owner may have 1 (OWNER_OPEN_SESSIONS). Wait until a turn ends, or stop one",
    ]);
    assert.equal((await create({ authorization: `Bearer ${OTHER_KEY}` })).status, 201);

    release();
    await service.completed(first.statusUrl);
    // Creation is retried, because the service's count of sessions may be up to a second old.
    await waitUntil(async () => (await create()).status === 201, "the ended turn has made room", 5_000);
    await waitUntil(
      async () => /OWNER_STORED_SESSIONS/.test(await (await create()).text()),
      "no room",
      5_000,
    );
    assert.equal((await service.call("DELETE", `/api/sessions/${first.sessionId}`)).status, 200);
    assert.equal((await create()).status, 201);
  });

  it("refuse an annotation beyond the session's limit with 409, in the error envelope", async () => {
    const headers = { authorization: `Bearer ${OTHER_KEY}` };
    const { data } = (await (await service.call("GET", "/api/sessions", undefined, headers)).json()) as {
      data: { id: string; sessionId?: string }[];
    };
    const path = `/api/sessions/${data[0]?.sessionId ?? data[0]?.id}/annotations/webhook`;
    const annotate = () => service.call("POST", path, { event: "submit", annotations: [] });
    assert.deepEqual([(await annotate()).status, (await annotate()).status], [200, 200]);
    assert.deepEqual(await readError(await annotate()), [
      409,
      false,
      "conflict",
      "the session has 2 annotations; a session may have 2 (ANNOTATIONS_SESSION_MAX)",
    ]);
  });
});
