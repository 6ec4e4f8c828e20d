import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OTHER_KEY, openTestService, type TestService, waitUntil } from "../testing.ts";
import { readAgents, scriptByTask, spawn, wait } from "./agents-testing.ts";
import { countSessions, delegating, dumpDatabase } from "./tree-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Starts a session with a live child and a live grandchild. The model never answers the grandchild. */
async function openTree(marker: string) {
  const { promise: never } = Promise.withResolvers<void>();
  scriptByTask(service, {
    [marker]: [
      { toolCalls: [spawn({ name: `${marker}-middle`, objective: `${marker}: manage` })] },
      { toolCalls: [wait()] },
    ],
    [`${marker}: manage`]: [
      { toolCalls: [spawn({ name: `${marker}-deep`, objective: `${marker}: stay` })] },
      { toolCalls: [wait()] },
    ],
    [`${marker}: stay`]: [{ hold: never, holdAt: "start", text: "never" }],
  });
  const session = await service.create(marker, delegating);
  const held = await service.model.waitForRequest(({ userText }) => userText.includes(`${marker}: stay`));
  const [child, grandchild] = await readAgents(service, session.sessionId);
  assert.ok(child && grandchild);
  return { ...session, held, childId: child.sessionId, grandchildId: grandchild.sessionId };
}

describe("the tree of a session", () => {
  it("appears in the list of sessions only as its root, and is hidden from other owners", async () => {
    const { sessionId, childId, grandchildId } = await openTree("hidden");
    for (const id of [childId, grandchildId]) {
      const path = `/api/sessions/${id}`;
      const other = { authorization: `Bearer ${OTHER_KEY}` };
      assert.equal((await service.call("GET", path)).status, 200);
      assert.equal((await service.call("GET", path, undefined, other)).status, 404);
    }
    const { data } = await service.read<{ data: { id: string }[] }>("/api/sessions");
    const listed = data.map(({ id }) => id);
    assert.ok(listed.includes(sessionId));
    assert.ok(!listed.includes(childId) && !listed.includes(grandchildId));
    assert.equal((await service.call("DELETE", `/api/sessions/${sessionId}`)).status, 200);
  });

  it("cannot be deleted in part: the deletion of a live child is refused, and the child continues", async () => {
    const { sessionId, childId, grandchildId } = await openTree("whole");
    for (const id of [childId, grandchildId]) {
      const answer = await service.call("DELETE", `/api/sessions/${id}`);
      assert.equal(answer.status, 409);
      const { code } = (await answer.json()) as { code: string };
      assert.equal(code, "conflict");
      assert.equal((await service.call("GET", `/api/sessions/${id}`)).status, 200);
    }
    const agents = await readAgents(service, sessionId);
    assert.deepEqual(
      agents.map(({ outcome }) => outcome),
      [null, null],
    );
    assert.equal((await service.call("DELETE", `/api/sessions/${sessionId}`)).status, 200);
  });

  it("is deleted with its root while sub-agents are live: their turns end, and no row remains", async () => {
    const { sessionId, childId, grandchildId, held, statusUrl } = await openTree("deleted");
    const ids = [sessionId, childId, grandchildId];
    assert.deepEqual(await countSessions(service, ids), { sessions: 3, requests: 3, runs: 3 });
    const answer = await service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.equal(answer.status, 200);
    const { deleted, pending } = (await answer.json()) as {
      deleted: Record<string, number>;
      pending: unknown[];
    };
    assert.deepEqual([deleted.sessions, deleted.requests, deleted.runs, pending], [3, 3, 3, []]);
    assert.deepEqual(await countSessions(service, ids), { sessions: 0, requests: 0, runs: 0 });
    await waitUntil(() => held.outcome === "client-left", "the model call of the grandchild was given up");
    for (const path of ["", "/agents", "/messages", "/agent/status"])
      for (const id of ids)
        assert.equal((await service.call("GET", `/api/sessions/${id}${path}`)).status, 404, path);
    assert.equal((await service.call("GET", statusUrl)).status, 404);
    // After the deletion, only the engine's tables and the record of the removal may still contain ids of the sessions.
    const left = (await dumpDatabase(service))
      .split("\n")
      .filter((line) => !/^(engine_|removals )/.test(line) && ids.some((id) => line.includes(id)));
    assert.deepEqual(left, []);
    const requests = service.model.requests.length;
    assert.equal((await openTree("next")).held.index > 0, true);
    const late = service.model.requests.slice(requests).filter(({ text }) => text.includes("deleted:"));
    assert.deepEqual(late, [], "no run of the tree is played again");
  });
});
