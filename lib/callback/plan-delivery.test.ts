import assert from "node:assert/strict";
import { test } from "node:test";
import { planDelivery } from "./plan-delivery.ts";

const about = { requestId: "req_a", runId: "run_a", timestamp: "2026-11-20T10:00:00.000Z" };
const completed = { ...about, kind: "run.completed" } as const;

test("a subscribed event makes one delivery whose body carries the full domain event", () => {
  const planned = planDelivery(["run.started", "run.completed"], "ses_a", completed);
  assert.match(planned?.id ?? "", /^whd-[0-9a-f-]{36}$/);
  const data = { ...completed, seq: 4, sessionId: "ses_a", source: "api", outcome: "succeeded" };
  const { kind: event, ...rest } = completed;
  assert.deepEqual(JSON.parse(`${planned?.head}${JSON.stringify(data)}}`), {
    event,
    sessionId: "ses_a",
    ...rest,
    data,
  });
});

test("an event outside callback.events, of another kind, or of a session without callback makes no delivery", () => {
  assert.equal(planDelivery(["run.started"], "ses_a", completed), undefined);
  assert.equal(planDelivery(["run.started"], "ses_a", { ...about, kind: "browser.status" }), undefined);
  assert.equal(planDelivery(null, "ses_a", completed), undefined);
});
