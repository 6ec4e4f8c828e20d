import assert from "node:assert/strict";
import { test } from "node:test";
import { findPublishStep } from "./publish-step.ts";
import { AT, publicationOf } from "./testing.ts";
import type { CheckFinding, CheckReport, VariantView } from "./view-types.ts";

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
    findPublishStep(variant(status), 3, null),
  );
  assert.deepEqual(steps, ["unchecked", "failed", "ready", "ready"]);
  const older = { publication: publicationOf(1, 2) };
  assert.equal(findPublishStep(variant("pass", older), 3, null), "ready");
  assert.equal(findPublishStep(variant(null, older), 3, null), "unchecked");
});

test("a published revision can be published again only as a checked release", () => {
  const checked = { publication: publicationOf(2, 3) };
  const unchecked = { publication: publicationOf(2, 3, { isUnchecked: true }) };
  assert.equal(findPublishStep(variant("pass", checked), 3, null), "published");
  assert.equal(findPublishStep(variant(null, unchecked), 3, null), "published");
  assert.equal(findPublishStep(variant("fail", unchecked), 3, null), "published");
  assert.equal(findPublishStep(variant("warn", unchecked), 3, null), "ready");
});

test("a revision that the person has not seen is not published", () => {
  assert.equal(findPublishStep(variant("pass"), 2, null), "outdated");
});

test("a check in which nothing failed, and changes were not examined, is accepted before it is published", () => {
  const done = "ok" as const;
  const change = { id: "c1", matched: 1, applied: done, hydration: done, rerender: done, navigation: done };
  const report = (outcome: "not_examined" | "failed", findings: CheckFinding[] = []): CheckReport => ({
    variant: "main",
    revision: 3,
    status: "fail",
    at: AT,
    durationMs: 1,
    findings,
    pages: [
      {
        url: "https://shop.example/",
        viewport: "phone",
        changes: [{ ...change, revert: done, outcome, reason: null }],
        paintToAppliedMs: 0,
        layoutShift: 0,
        pictures: { before: null, after: null, difference: null },
      },
    ],
    notes: [],
  });
  const failed: CheckFinding = {
    level: "fail",
    code: "console_error",
    changeId: null,
    url: "https://shop.example/",
    viewport: null,
    message: "An error.",
  };
  assert.equal(findPublishStep(variant("fail"), 3, report("not_examined")), "unaccepted");
  assert.equal(findPublishStep(variant("fail"), 3, report("not_examined", [failed])), "failed");
  assert.equal(findPublishStep(variant("fail"), 3, report("failed")), "failed");
  assert.equal(findPublishStep(variant("warn"), 3, report("not_examined")), "ready");
});
