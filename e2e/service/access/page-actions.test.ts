import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { QUEUED_MAX } from "#lib/session/follow-up/accept-message.ts";
import { openTestService, type TestService } from "../testing.ts";

let service: TestService;
let session: { sessionId: string; shareUrl: string };
before(async () => {
  service = await openTestService({ RATE_LIMIT_ACT: "1" });
  // The first turn never ends, so all later messages stay in the queue.
  service.model.respondWith(() => ({ text: "Working.", hold: new Promise<void>(() => {}) }));
  session = await service.create("Hello");
});
after(() => service.close());

async function createLink(): Promise<string> {
  const path = `/api/sessions/${session.sessionId}/share-links`;
  const created = await service.call("POST", path, { role: "drive" });
  return ((await created.json()) as { shareUrl: string }).shareUrl;
}
/** Sends a request in the way the session page does for the holder of a share link. */
const act = (shareUrl: string, method: string, path: string, body?: unknown) =>
  service.call(method, `/s/${session.sessionId}/actions${path}`, body, {
    authorization: "",
    cookie: `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`,
    origin: service.env.baseUrl,
  });

describe("actions on the session page", () => {
  test("have a rate limit per share link, which reads do not use up", async () => {
    const link = await createLink();
    const say = (shareUrl: string) => act(shareUrl, "POST", "/messages", { text: "And this" });
    const accepted = await say(link);
    assert.equal(accepted.status, 202);
    assert.equal(accepted.headers.get("ratelimit-remaining"), "0");
    const refused = await say(link);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.equal(refused.headers.get("ratelimit-limit"), "1");
    assert.match((await refused.json()).error, /^too many requests; try again in \d+ s$/);
    assert.equal((await act(link, "POST", "/cancel")).status, 429, "actions share one limit");
    assert.equal((await act(link, "GET", "/queue")).status, 200);
    assert.equal((await say(session.shareUrl)).status, 202, "another link has its own limit");
  });

  test("are refused, like API calls, while the queue is full", async () => {
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const post = (text: string, idempotencyKey: string) =>
      service.call("POST", path, { text, idempotencyKey });
    const queue = async () => {
      const answer = await service.call("GET", `/api/sessions/${session.sessionId}/queue`);
      return ((await answer.json()) as { data: { requestId: string }[] }).data;
    };
    const free = QUEUED_MAX - (await queue()).length;
    const answers = await Promise.all(
      Array.from({ length: free + 10 }, (_, index) => post(`Message ${index}`, `key ${index}`)),
    );
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(
      [
        statuses.filter((status) => status === 202).length,
        statuses.filter((status) => status === 409).length,
      ],
      [free, 10],
    );
    const refused = await act(await createLink(), "POST", "/messages", {
      text: "And this",
      mode: "interrupt",
    });
    assert.equal(refused.status, 409);
    assert.deepEqual(await refused.json(), {
      success: false,
      code: "conflict",
      error: "100 messages wait already; wait until one starts, or remove one",
    });
    const accepted = statuses.indexOf(202);
    const replayed = await post(`Message ${accepted}`, `key ${accepted}`);
    assert.equal(replayed.headers.get("idempotency-replayed"), "true", "a replay is still answered");
    const [first] = await queue();
    const removed = await service.call(
      "DELETE",
      `/api/sessions/${session.sessionId}/queue/${first?.requestId}`,
    );
    assert.equal(removed.status, 200);
    assert.equal((await post("Once more", "another key")).status, 202);
    assert.equal((await queue()).length, QUEUED_MAX);
  });
});
