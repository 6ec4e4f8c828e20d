import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "../state/apply-event.ts";
import { event, started, usage } from "../state/testing.ts";
import type { ApprovalView } from "../state/view-types.ts";
import { describeNotification } from "./describe-notification.ts";
import { describeTab } from "./describe-tab.ts";

const ended = applyEvent(started, event(5, { kind: "run.completed", usage, outcome: "succeeded" }));
const question = {
  elicitationId: "eli_1",
  toolCallId: "call_1",
  question: "Which?",
  options: null,
  form: null,
};
const asking = applyEvent(
  started,
  event(5, { kind: "elicitation.requested", ...question, expiresAt: "2026-11-20T11:00:00.000Z" }),
);

const approval: ApprovalView = {
  id: "itm_1",
  sessionId: "ses_a",
  runId: "run_1",
  kind: "approval",
  title: "Approve write_file",
  body: "{}",
  call: { toolCallId: "call_1", toolName: "write_file", input: {} },
  createdAt: "2026-11-20T10:00:00.000Z",
  expiresAt: null,
  state: "open",
};

test("the tab counts questions and approvals together, and a person is notified of an approval once", () => {
  const waiting = { ...started, approvals: [approval] };
  assert.deepEqual(describeTab(waiting, false), { mark: "Approval", tone: "attention" });
  const both = { ...asking, approvals: [approval] };
  assert.deepEqual(describeTab(both, false), { mark: "2 waiting", tone: "attention" });
  assert.equal(describeNotification(started, waiting)?.body, "Approve write_file");
  assert.equal(describeNotification(waiting, waiting), null);
});

test("the tab shows work, questions, and an outcome that was not seen", () => {
  assert.deepEqual(describeTab(started, false), { mark: "Working", tone: "busy" });
  assert.deepEqual(describeTab(asking, false), { mark: "Question", tone: "attention" });
  assert.deepEqual(describeTab(ended, true), { mark: "Done", tone: "good" });
  assert.equal(describeTab(ended, false), null);
});

test("a person is notified of a question and of the end of a turn, once", () => {
  assert.deepEqual(describeNotification(started, ended), { title: "Done", body: "Look", tag: "ses_a" });
  assert.equal(describeNotification(started, asking)?.body, "Which?");
  assert.equal(describeNotification(asking, asking), null);
  assert.equal(describeNotification(ended, ended), null);
});

test("a person is not notified of the own stop", () => {
  const stopped = applyEvent(
    { ...started, ownStops: ["run_1"] },
    event(5, { kind: "run.completed", usage, outcome: "cancelled" }),
  );
  assert.equal(describeNotification(started, stopped), null);
});
