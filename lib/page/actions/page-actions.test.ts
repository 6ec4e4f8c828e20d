import assert from "node:assert/strict";
import { test } from "node:test";
import { createPageActions } from "./page-actions.ts";

/** Creates actions that call a fake service. The service gives the same answer to all requests and records them. */
function open(answer: Response) {
  const requests: string[] = [];
  const actions = createPageActions("/s/ses_a/actions", async (path, init) => {
    requests.push([init?.method, path, init?.body].filter(Boolean).join(" "));
    return answer;
  });
  return { requests, actions };
}

test("versions are read, another one is served, and a page is unpublished", async () => {
  const read = open(Response.json({ success: true, data: [], nextCursor: null }));
  assert.deepEqual(await read.actions.readPageVersions("sale"), { isDone: true, answer: [] });
  const rollback = open(Response.json({ success: true, page: { slug: "sale" } }));
  assert.deepEqual(await rollback.actions.rollBackPage("sale", 2), {
    isDone: true,
    answer: { slug: "sale" },
  });
  const error = "no such page";
  const unpublish = open(Response.json({ success: false, error }, { status: 404 }));
  assert.deepEqual(await unpublish.actions.unpublishPage("sale"), { isDone: false, status: 404, error });
  assert.deepEqual(
    [...read.requests, ...rollback.requests, ...unpublish.requests],
    [
      "GET /s/ses_a/actions/pages/sale/versions",
      'POST /s/ses_a/actions/pages/sale/rollback {"version":2}',
      "POST /s/ses_a/actions/pages/sale/unpublish",
    ],
  );
});
