import assert from "node:assert/strict";
import { test } from "node:test";
import { describeApproval } from "./describe-approval.ts";

test("a call that was settled elsewhere says how, and by whom", () => {
  assert.equal(
    describeApproval({ state: "approved", settledBy: "program" }),
    "Already approved by a program.",
  );
  assert.equal(describeApproval({ state: "denied", settledBy: "person" }), "Already denied by a person.");
  assert.match(describeApproval({ state: "expired" }), /expired/);
  assert.match(describeApproval({ state: "withdrawn" }), /withdrawn/);
});
