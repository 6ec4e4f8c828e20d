import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedPage, CheckFinding } from "../state/view-types.ts";
import {
  assignFindings,
  describeCheck,
  describePaint,
  formatLayoutShift,
  groupFindings,
} from "./describe-check.ts";
import { describeOutcomes } from "./describe-outcome.ts";
import { describePreview } from "./describe-preview.ts";
import { describeProof } from "./describe-proof.ts";

const AT = "2026-11-20T10:00:00.000Z";
const finding = (fields: Partial<CheckFinding>): CheckFinding => ({
  level: "fail",
  code: "no_match",
  changeId: "c1",
  url: "https://shop.example/",
  viewport: "desktop",
  message: "It matches nothing.",
  ...fields,
});

test("an unchecked revision is described as such, and a check by its status", () => {
  assert.deepEqual(describeCheck(null), { tone: "quiet", title: "Not checked" });
  const titles = (["pass", "warn", "fail"] as const).map((status) => describeCheck({ status, at: AT }).title);
  assert.deepEqual(titles, ["Check passed", "Passed with warnings", "Check not passed"]);
});

test("findings that differ only in their width are merged, and failures come first", () => {
  const warning = finding({ level: "warn", code: "overflow", viewport: null, message: "It overflows." });
  const grouped = groupFindings([
    warning,
    finding({}),
    finding({ viewport: "phone" }),
    finding({ changeId: "c2" }),
  ]);
  assert.deepEqual(
    grouped.map(({ level, changeId, viewports }) => [level, changeId, viewports]),
    [
      ["fail", "c1", ["desktop", "phone"]],
      ["fail", "c2", ["desktop"]],
      ["warn", "c1", []],
    ],
  );
});

test("findings about changes that the document does not have count as general", () => {
  const findings = [finding({}), finding({ changeId: null }), finding({ changeId: "c9" })];
  const changes = [{ id: "c1", op: "remove", selector: "p" } as const];
  const { general, byChange } = assignFindings({
    variant: "main",
    revision: 1,
    author: "agent",
    createdAt: AT,
    isShown: true,
    document: { pages: [{ url: "https://shop.example/", match: "path", css: "", js: "", changes }] },
    check: {
      variant: "main",
      revision: 1,
      status: "fail",
      at: AT,
      durationMs: 1,
      findings,
      pages: [],
      notes: [],
    },
  });
  assert.deepEqual(
    general.map(({ changeId }) => changeId),
    [null, "c9"],
  );
  assert.equal(byChange.get("c1")?.length, 1);
});

test("times and layout shifts are rounded, and an unknown time is called unknown", () => {
  assert.deepEqual(
    [describePaint(null), describePaint(0), describePaint(86.4)],
    ["unknown", "before the first paint", "86 ms after the first paint"],
  );
  assert.deepEqual([0, 0.0004, 0.0132].map(formatLayoutShift), ["0", "below 0.001", "0.013"]);
});

const checked = (
  viewport: CheckedPage["viewport"],
  fields: Partial<CheckedPage["changes"][number]>,
): CheckedPage => ({
  url: "https://shop.example/",
  viewport,
  changes: [
    {
      id: "c1",
      matched: 1,
      applied: "ok",
      hydration: "ok",
      rerender: "ok",
      navigation: "not_applicable",
      revert: "ok",
      ...fields,
    },
  ],
  paintToAppliedMs: 0,
  layoutShift: 0,
  pictures: { before: null, after: null, difference: null },
});

test("the proof of a change names what failed and at which width", () => {
  const proof = describeProof(
    [checked("desktop", { rerender: "failed" }), checked("phone", { matched: 3, revert: "failed" })],
    "c1",
  );
  assert.equal(proof?.matched, "1 to 3 elements");
  assert.deepEqual(
    proof?.marks.map(({ step, outcome }) => [step, outcome]),
    [
      ["applied", "ok"],
      ["hydration", "ok"],
      ["rerender", "failed"],
      ["navigation", "not_applicable"],
      ["revert", "failed"],
    ],
  );
  assert.equal(proof?.marks[2]?.sentence, "Lost when its element was rendered again (desktop).");
  assert.equal(describeProof([checked("desktop", {})], "c2"), undefined);
});

test("a failure at every width names no width", () => {
  const proof = describeProof([checked("desktop", { applied: "failed", matched: 0 })], "c1");
  assert.deepEqual(
    [proof?.matched, proof?.marks[0]?.sentence],
    ["0 elements", "Not applied on a fresh load."],
  );
});

test("the outcome of a change is the worst on all pages, with the reasons and who accepted them", () => {
  const outcomesOf = (...pages: CheckedPage[]) =>
    describeOutcomes({
      variant: "main",
      revision: 1,
      author: "agent",
      createdAt: AT,
      isShown: true,
      document: {
        pages: [
          {
            url: "https://shop.example/",
            match: "path",
            css: "",
            js: "",
            changes: [{ id: "c1", op: "remove", selector: "p" }],
          },
        ],
      },
      check: {
        variant: "main",
        revision: 1,
        status: "fail",
        at: AT,
        durationMs: 1,
        findings: [],
        pages,
        notes: [],
      },
    });
  const hidden = { outcome: "not_examined", reason: "It is not visible." } as const;
  const accepted = { by: "person", at: AT, revision: 1 } as const;
  const [open] = outcomesOf(checked("desktop", hidden), checked("phone", hidden));
  assert.deepEqual(
    [open?.title, open?.isAccepted, open?.reasons],
    [
      "Not examined",
      false,
      [{ text: "It is not visible.", url: "https://shop.example/", viewports: ["desktop", "phone"] }],
    ],
  );
  const [partly] = outcomesOf(checked("desktop", { ...hidden, accepted }), checked("phone", hidden));
  assert.equal(partly?.isAccepted, false, "accepted at one of two widths");
  const [done] = outcomesOf(
    checked("desktop", { ...hidden, accepted }),
    checked("phone", { outcome: "proved" }),
  );
  assert.deepEqual([done?.title, done?.tone], ["Not examined, accepted by a person", "quiet"]);
  const [failed] = outcomesOf(
    checked("desktop", { ...hidden, accepted }),
    checked("phone", { outcome: "failed" }),
  );
  assert.deepEqual([failed?.title, failed?.isAccepted], ["Failed", false]);
  assert.deepEqual(outcomesOf(checked("desktop", {})), [], "reports of earlier versions have no outcomes");
});

test("a preview names its variant or the control, and its width", () => {
  const preview = {
    title: "Checkout",
    url: "https://shop.example/",
    caption: null,
    evidence: null,
    error: null,
    takenAt: null,
  };
  const phone = { name: "phone", width: 390, height: 844 } as const;
  const own = { name: null, width: 1024, height: 768 };
  assert.deepEqual(
    [
      describePreview({ ...preview, variant: null, revision: null, viewport: phone }),
      describePreview({ ...preview, variant: "b", revision: 2, viewport: own }),
    ],
    [
      { subject: "Control", viewport: "Phone" },
      { subject: "b, revision 2", viewport: "1024 × 768" },
    ],
  );
});
