import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { scriptByTask } from "../agents/agents-testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { listItems, onlyItem } from "./inbox-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

type Session = { sessionId: string; shareUrl: string; statusUrl: string };

/** Creates a session whose first call waits for approval. */
async function openWaiting(): Promise<{ session: Session; id: string }> {
  scriptByTask(service, {
    "write it": [{ toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "x" } }] }],
  });
  const session = await service.create("write it", {
    capabilities: { browser: false },
    interaction: { mode: "ask" },
    tools: { approve: ["write_file"] },
  });
  await waitUntil(async () => (await listItems(service, session)).length === 1, "a call waits", 30_000);
  return { session, id: (await onlyItem(service, session)).id };
}

const cookieOf = (shareUrl: string) => {
  const key = new URL(shareUrl, service.env.baseUrl).searchParams.get("key");
  return { authorization: "", cookie: `share=${key}`, origin: service.env.baseUrl };
};

async function linkWith(session: Session, role: "view" | "comment" | "drive") {
  const created = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, { role });
  return cookieOf(((await created.json()) as { shareUrl: string }).shareUrl);
}

/** Calls an operation of the session page on the inbox. */
const act = (
  session: Session,
  method: "GET" | "POST",
  path: string,
  headers: Record<string, string>,
  body?: object,
) => service.call(method, `/s/${session.sessionId}/actions/inbox${path}`, body, headers);

describe("the inbox of the session page", () => {
  it("is listed for every role, with the exact call", async () => {
    const { session, id } = await openWaiting();
    for (const role of ["view", "comment", "drive"] as const) {
      const answer = await act(session, "GET", "?state=open", await linkWith(session, role));
      assert.equal(answer.status, 200, role);
      const { data } = (await answer.json()) as { data: { id: string; call?: { input: unknown } }[] };
      assert.deepEqual(
        data.map((item) => [item.id, item.call?.input]),
        [[id, { path: "a.txt", content: "x" }]],
        role,
      );
    }
    assert.equal((await act(session, "GET", "", cookieOf(session.shareUrl))).status, 200);
  });

  it("is settled only with the role drive, as a person, and the second settlement is told the state", async () => {
    const { session, id } = await openWaiting();
    for (const body of [{ approve: true }, { deny: true, reason: "no" }, { approve: true, forSession: true }])
      for (const role of ["view", "comment"] as const) {
        const refused = await act(session, "POST", `/${id}`, await linkWith(session, role), body);
        assert.equal(refused.status, 403, `${role} ${JSON.stringify(body)}`);
      }
    assert.equal((await onlyItem(service, session)).state, "open");
    const driver = await linkWith(session, "drive");
    const settled = await act(session, "POST", `/${id}`, driver, { deny: true, reason: "no" });
    const { item } = (await settled.json()) as { item: { state: string; settledBy: string } };
    assert.deepEqual([settled.status, item.state, item.settledBy], [200, "denied", "person"]);
    const late = await act(session, "POST", `/${id}`, cookieOf(session.shareUrl), { approve: true });
    assert.deepEqual([late.status, ((await late.json()) as { state: string }).state], [409, "denied"]);
    await service.completed(session.statusUrl);
  });

  it("refuses API keys, other sites, visitors without a link, and items of other sessions", async () => {
    const { session, id } = await openWaiting();
    const other = await openWaiting();
    const own = cookieOf(session.shareUrl);
    const approve = { approve: true };
    const foreign = { ...own, origin: "https://evil.example" };
    assert.equal((await act(session, "POST", `/${id}`, foreign, approve)).status, 403);
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["POST", `/${id}`, approve],
    ] as const) {
      const stranger = { authorization: "", origin: service.env.baseUrl };
      assert.equal((await act(session, method, path, stranger, body)).status, 404, `${method} no link`);
      const withKey = { origin: service.env.baseUrl };
      assert.equal((await act(session, method, path, withKey, body)).status, 404, `${method} key`);
    }
    assert.equal((await act(session, "POST", `/${other.id}`, own, approve)).status, 404);
    assert.equal((await act(session, "POST", `/${id}`, own, { answer: "yes" })).status, 400);
    assert.equal((await onlyItem(service, session)).state, "open");
  });
});
