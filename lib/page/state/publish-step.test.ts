import assert from "node:assert/strict";
import { test } from "node:test";
import { findPublishStep } from "./publish-step.ts";
import { AT, publicationOf } from "./testing.ts";
import type { VariantView } from "./view-types.ts";

const variant = (
  status: "pass" | "warn" | "fail" | null,
  fields: Partial<VariantView> = {},
): VariantView => ({
  key: "main",
  revision: 3,
  check: status && { status, at: AT },
  publication: null,
  changeCount: 1,
  isShown: true,
  ...fields,
});

test("the check of the newest revision decides how it can be published", () => {
  const steps = ([null, "fail", "warn", "pass"] as const).map((status) =>
    findPublishStep(variant(status), 3),
  );
  assert.deepEqual(steps, ["unchecked", "failed", "ready", "ready"]);
  const older = { publication: publicationOf(1, 2) };
  assert.equal(findPublishStep(variant("pass", older), 3), "ready");
  assert.equal(findPublishStep(variant(null, older), 3), "unchecked");
});

test("a published revision can be published again only as a checked release", () => {
  const checked = { publication: publicationOf(2, 3) };
  const unchecked = { publication: publicationOf(2, 3, { isUnchecked: true }) };
  assert.equal(findPublishStep(variant("pass", checked), 3), "published");
  assert.equal(findPublishStep(variant(null, unchecked), 3), "published");
  assert.equal(findPublishStep(variant("fail", unchecked), 3), "published");
  assert.equal(findPublishStep(variant("warn", unchecked), 3), "ready");
});

test("a revision that the person has not seen is not published", () => {
  assert.equal(findPublishStep(variant("pass"), 2), "outdated");
});
