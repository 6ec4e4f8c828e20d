import assert from "node:assert/strict";
import { test } from "node:test";
import { createRevisionCache } from "./revision-cache.ts";
import { createSessionActions } from "./session-actions.ts";

const PATHS = {
  actions: "/s/ses_a/actions",
  files: "/files",
  messages: "/messages",
  agents: "/agents",
  variants: "/variants",
  tests: "/tests",
  planning: "/api/sessions/ses_a",
  imports: "/imports",
  skills: "/skills",
};
const variant = { key: "main", revision: 2, check: null, publication: null, changeCount: 1, isShown: true };

/** Creates a cache for a fake service that numbers its answers. */
function openCache(statusOf: (call: number) => number = () => 200) {
  const paths: string[] = [];
  const actions = createSessionActions(PATHS, async (path) => {
    paths.push(String(path));
    return Response.json(
      { success: true, revision: { call: paths.length } },
      { status: statusOf(paths.length) },
    );
  });
  return { paths, cache: createRevisionCache(actions.readRevision) };
}

test("a revision is read once, also by simultaneous readers", async () => {
  const { cache, paths } = openCache();
  assert.equal(cache.peek(variant), undefined);
  const [one, other] = await Promise.all([cache.read(variant), cache.read(variant)]);
  assert.deepEqual(one, other);
  await cache.read({ ...variant, isShown: false });
  assert.deepEqual(paths, ["/variants/main/revisions/2"]);
  assert.ok(one.isDone && cache.peek(variant) === one.answer);
});

test("a revision is read again after its check, and another revision on its own", async () => {
  const { cache, paths } = openCache();
  await cache.read(variant);
  const checked = { ...variant, check: { status: "pass", at: "2026-11-20T10:00:00.000Z" } } as const;
  assert.equal(cache.peek(checked), undefined);
  await cache.read(checked);
  await cache.read({ ...variant, revision: 3 });
  assert.equal(paths.length, 3);
});

test("a read that failed is tried again", async () => {
  const { cache } = openCache((call) => (call === 1 ? 503 : 200));
  assert.equal((await cache.read(variant)).isDone, false);
  assert.equal((await cache.read(variant)).isDone, true);
});
