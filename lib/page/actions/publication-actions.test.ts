import assert from "node:assert/strict";
import { test } from "node:test";
import { publicationOf } from "../state/testing.ts";
import { createPublicationActions } from "./publication-actions.ts";

/** Creates actions that call a fake service. The service gives the same answer to all requests and records them. */
function open(answer: Response) {
  const requests: string[] = [];
  const actions = createPublicationActions("/variants", async (path, init) => {
    requests.push([init?.method, path, init?.body].filter(Boolean).join(" "));
    return answer;
  });
  return { requests, actions };
}

test("a revision is published by its number, and a refusal is a sentence", async () => {
  const error = "revision: the newest revision is 4; only that can be published";
  const { requests, actions } = open(Response.json({ success: false, error }, { status: 409 }));
  const outcome = await actions.publishVariant("main", { revision: 3, unchecked: true });
  assert.deepEqual(outcome, { isDone: false, status: 409, error });
  assert.deepEqual(requests, ['POST /variants/main/publish {"revision":3,"unchecked":true}']);
});

test("rollback and unpublish return the current publication", async () => {
  const publication = publicationOf(1, 1);
  const rollback = open(Response.json({ success: true, publication }));
  assert.deepEqual(await rollback.actions.rollBackVariant("main", 1), { isDone: true, answer: publication });
  assert.deepEqual(rollback.requests, ['POST /variants/main/rollback {"release":1}']);
  const unpublish = open(Response.json({ success: true, publication: null }));
  assert.deepEqual(await unpublish.actions.unpublishVariant("main"), { isDone: true, answer: null });
  assert.deepEqual(unpublish.requests, ["POST /variants/main/unpublish"]);
});

test("releases are read from the `data` of the answer", async () => {
  const { requests, actions } = open(Response.json({ success: true, data: [], nextCursor: null }));
  assert.deepEqual(await actions.readReleases("main"), { isDone: true, answer: [] });
  assert.deepEqual(requests, ["GET /variants/main/releases"]);
});

test("a script is exported unchanged", async () => {
  const { requests, actions } = open(new Response("apply();"));
  const outcome = await actions.exportRevision("main", 3, "script");
  const file = { name: "main-r3.js", mediaType: "text/javascript", text: "apply();", omitted: [] };
  assert.deepEqual(outcome, { isDone: true, answer: file });
  assert.deepEqual(requests, ["GET /variants/main/revisions/3/export?format=script"]);
});

test("a document is exported as a JSON file, with the changes that its format cannot express", async () => {
  const omitted = [{ changeId: "c1", url: "https://shop.example/", reason: "GrowthBook has no moves." }];
  const body = { success: true, format: "growthbook", document: { domMutations: [] }, omitted };
  const outcome = await open(Response.json(body)).actions.exportRevision("main", 3, "growthbook");
  const text = '{\n  "domMutations": []\n}\n';
  const file = { name: "main-r3.growthbook.json", mediaType: "application/json", text, omitted };
  assert.deepEqual(outcome, { isDone: true, answer: file });
  const json = await open(Response.json({ ...body, format: "json" })).actions.exportRevision("b", 1, "json");
  assert.ok(json.isDone && json.answer.name === "b-r1.json");
});

test("an interrupted export is an outcome, not a throw", async () => {
  const outcome = await open(new Response('{"document":')).actions.exportRevision("main", 3, "posthog");
  assert.ok(!outcome.isDone && outcome.status === 0);
});

test("a document is imported on top of a revision", async () => {
  const { requests, actions } = open(Response.json({ success: true, omitted: [] }, { status: 201 }));
  assert.ok(
    (await actions.importVariant("main", { format: "posthog", document: {}, baseRevision: 3 })).isDone,
  );
  assert.deepEqual(requests, [
    'POST /variants/main/import {"format":"posthog","document":{},"baseRevision":3}',
  ]);
});
