import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ToolCallView } from "../state/view-types.ts";
import { findReportOfCall, formatMoment } from "./describe-report.ts";

const ID = "rep_m3xq7zkwd2ntvcyh5rpbjg4a";
const call: ToolCallView = {
  toolCallId: "call_1",
  toolName: "publish_qa_report",
  runId: "run_1",
  state: "succeeded",
  refusal: null,
  interruptedBy: null,
  isStopped: false,
  actions: [],
  preview: `Published report ${ID}, version 1 of "Audit", with no findings.`,
  resultId: null,
  evidence: [],
  startedAt: "2026-11-20T10:00:00.000Z",
  durationMs: 1,
};

describe("the words of reports", () => {
  it("a call that published a report links to it, and no other call does", () => {
    const find = (fields: Partial<ToolCallView>) => findReportOfCall({ ...call, ...fields }, "/s/ses_a");
    assert.equal(find({}), `/s/ses_a/reports/${ID}`);
    assert.equal(find({ toolName: "fetch_url" }), null);
    assert.equal(find({ state: "failed" }), null);
    assert.equal(find({ preview: `The page says: ${call.preview}` }), null);
    assert.equal(find({ preview: "Published report rep_../../x, version 1" }), null);
    assert.equal(findReportOfCall(undefined, "/s/ses_a"), null);
  });

  it("a time is the same for all readers", () => {
    assert.equal(formatMoment("2026-11-20T10:05:59.000Z"), "2026-11-20 10:05 UTC");
  });
});
