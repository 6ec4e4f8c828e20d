import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../document.ts";
import { type Acceptance, hashChange, withAcceptances } from "./acceptances.ts";
import type { CheckReport } from "./check-report.ts";
import { ASK_TO_ACCEPT } from "./conclude-check.ts";

const URL_A = "https://shop.example/";
const REASON = "It is not visible on the loaded page.";
const change: Change = { id: "c1", op: "setText", selector: "#note", text: "New" };
const report: CheckReport = {
  variant: "main",
  revision: 3,
  status: "fail",
  at: "2026-01-01T00:00:00.000Z",
  durationMs: 1,
  findings: [
    {
      level: "fail",
      code: "not_examined",
      changeId: "c1",
      url: URL_A,
      viewport: "phone",
      message: `The setText was not examined. ${ASK_TO_ACCEPT} A click seems to open it.`,
    },
  ],
  pages: [
    {
      url: URL_A,
      viewport: "phone",
      changes: [
        {
          id: "c1",
          matched: 1,
          outcome: "not_examined",
          reason: REASON,
          applied: "ok",
          hydration: "ok",
          rerender: "ok",
          navigation: "not_applicable",
          revert: "ok",
        },
      ],
      paintToAppliedMs: 0,
      layoutShift: 0,
      pictures: { before: null, after: null, difference: null },
    },
  ],
  notes: [],
};

test("the finding of an accepted change says who accepted it, and no longer asks for it", () => {
  const document = { pages: [{ url: URL_A, match: "path" as const, css: "", js: "", changes: [change] }] };
  for (const [acceptedBy, name] of [
    ["person", "A person"],
    ["caller", "A caller"],
  ] as const) {
    const acceptance: Acceptance = {
      revision: 2,
      changeId: "c1",
      changeHash: hashChange(change),
      places: [{ url: URL_A, viewport: "phone" as const, reason: REASON }],
      acceptedBy,
      acceptedAt: new Date(0),
    };
    const [finding] = withAcceptances(report, document, [acceptance]).findings;
    assert.deepEqual(
      [finding?.level, finding?.message],
      [
        "warn",
        `The setText was not examined. ${name} has accepted this for revision 2. A click seems to open it.`,
      ],
    );
  }
  const [asked] = withAcceptances(report, document, []).findings;
  assert.deepEqual(asked, report.findings[0]);
});
