import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const files = globSync("{app,components,lib/page,lib/client}/**/*.{ts,tsx}", { cwd: root });
const filesWith = (pattern: RegExp) =>
  files.filter((file) => pattern.test(readFileSync(resolve(root, file), "utf8"))).toSorted();

test("components set no inline styles, which the pages' content security policy blocks in server-rendered HTML", () => {
  assert.ok(files.length > 200, "the components were not found");
  const styled = filesWith(/\bstyle=\{|<style\b|dangerouslySetInnerHTML/);
  // `app/demo/route.test.ts` may contain the pattern, because it tests that the demo shop's HTML has no inline styles.
  assert.deepEqual(
    styled,
    ["app/demo/route.test.ts"].filter((file) => styled.includes(file)),
  );
});

test("pages store only drafts, the proof of control, the width of the conversation and the choice of notifications in the browser's storage", () => {
  // Drafts are bounded in `lib/page/state/draft-store.ts`. Source: decision 116.
  assert.deepEqual(filesWith(/\b(localStorage|sessionStorage|indexedDB)\b/), [
    "components/runtime/session-runtime.ts",
    "components/session/pane-splitter.tsx",
    "components/ui/notifications.ts",
    "lib/page/actions/control-seat.ts",
  ]);
});
