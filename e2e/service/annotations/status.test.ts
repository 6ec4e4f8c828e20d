import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { openAnnotated } from "./annotations-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

describe("each role", () => {
  /** The status of each answer: reading, resolving, reopening, marking, looking for them, sending, and removing. */
  const ALLOWED = {
    none: [401, 401, 401, 401, 401, 403, 401],
    view: [200, 403, 403, 403, 403, 403, 403],
    comment: [200, 200, 200, 200, 200, 403, 403],
    drive: [200, 200, 200, 200, 200, 202, 200],
    key: [200, 200, 200, 200, 200, 202, 200],
    "key of another owner": [404, 404, 404, 404, 404, 404, 404],
  } as const;

  for (const [role, expected] of Object.entries(ALLOWED))
    it(`${role}: may do only what it may`, async () => {
      const { api, annotate, as, sessionId, statusOf } = await openAnnotated(service);
      const id = await annotate("Larger");
      const isKey = role.startsWith("key");
      const call = isKey
        ? (method: string, path: string, body?: unknown) =>
            service.call(method, path, body, role === "key" ? {} : { authorization: `Bearer ${OTHER_KEY}` })
        : role === "none"
          ? (method: string, path: string, body?: unknown) =>
              service.call(method, path, body, { authorization: "" })
          : await as(role as "view" | "comment" | "drive");
      const messages = isKey ? `${api}/agent/messages` : `/s/${sessionId}/actions/messages`;
      const one = `${api}/annotations/${id}`;
      const answers = [
        await call("GET", `${api}/annotations`),
        await call("PATCH", one, { status: "resolved", resolution: "Done" }),
        await call("PATCH", one, { status: "open" }),
        await call("POST", `${api}/annotations/target`, { kind: "element", x: 1, y: 1 }),
        await call("POST", `${api}/annotations/locate`),
        await call("POST", messages, { text: "x", annotations: [id] }),
        await call("DELETE", one),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        expected,
      );
      assert.equal(await statusOf(id), expected[6] === 200 ? undefined : "open");
    });
});

describe("an annotation", () => {
  it("is resolved with a text, reopened and removed; each change has one event, a repeat has none", async () => {
    const { api, annotate, list, events } = await openAnnotated(service);
    const id = await annotate("Larger");
    const one = `${api}/annotations/${id}`;
    const resolve = { status: "resolved", resolution: "It is larger." };
    for (let time = 0; time < 2; time += 1) {
      const answer = await service.call("PATCH", one, resolve);
      const { annotation } = (await answer.json()) as { annotation: Record<string, unknown> };
      assert.deepEqual(
        [annotation.status, annotation.resolution, annotation.resolvedBy],
        ["resolved", "It is larger.", "person"],
      );
    }
    assert.deepEqual([(await list("?status=open")).length, (await list("?status=resolved")).length], [0, 1]);
    await service.call("PATCH", one, { status: "open" });
    const [open] = await list();
    assert.deepEqual([open?.status, open?.resolution, open?.resolvedBy], ["open", null, null]);
    assert.equal((await service.call("DELETE", one)).status, 200);
    assert.equal((await service.call("DELETE", one)).status, 404);
    assert.equal((await service.call("PATCH", one, { status: "open" })).status, 404);
    const changed = { kind: "annotation.changed", annotationId: id, sentRequestId: null };
    assert.deepEqual(
      (await events())
        .slice(1)
        .map(({ seq, timestamp, sessionId, requestId, runId, source, ...fields }) => fields),
      [
        { ...changed, status: "resolved", resolution: "It is larger.", resolvedBy: "person" },
        { ...changed, status: "open", resolution: null, resolvedBy: null },
        { kind: "annotation.removed", annotationId: id },
      ],
    );
  });

  it("that was removed no longer counts against the limits of its session", async () => {
    const limited = await openTestService({ ANNOTATIONS_SESSION_MAX: "1" });
    try {
      limited.model.respondWith(() => ({ text: "Done." }));
      const { api, annotate } = await openAnnotated(limited);
      const id = await annotate("One");
      const webhook = `${api}/annotations/webhook`;
      const body = { event: "submit", annotations: [] };
      assert.equal((await limited.call("POST", webhook, body)).status, 409);
      await limited.call("DELETE", `${api}/annotations/${id}`);
      assert.equal((await limited.call("POST", webhook, body)).status, 200);
    } finally {
      await limited.close();
    }
  });

  it("is not changed by a wrong body", async () => {
    const { api, annotate } = await openAnnotated(service);
    const one = `${api}/annotations/${await annotate("Larger")}`;
    const wrong: [unknown, RegExp][] = [
      [{ status: "sent" }, /^status: /],
      [{ status: "open", resolution: "x" }, /^resolution: can be sent only with the status resolved/],
      [{ status: "resolved", resolution: "x".repeat(2_001) }, /^resolution: must be at most 2,000/],
      [{ status: "resolved", by: "me" }, /by/],
    ];
    for (const [body, sentence] of wrong) {
      const response = await service.call("PATCH", one, body);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { error: string }).error, sentence);
    }
  });
});
