import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "#lib/events/event.ts";
import { planDelivery } from "./plan-delivery.ts";

const about = { sessionId: "ses_a", requestId: "req_a", runId: "run_a" };
const domainEvent = { kind: "run.completed", seq: 4, timestamp: "2026-11-20T10:00:00.000Z", ...about };
const stored: StoredEvent = {
  ...about,
  ...{ kind: "run.completed", seq: 4 },
  body: JSON.stringify({ ...domainEvent, source: "api", outcome: "succeeded" }),
};

test("a subscribed event makes one delivery whose body carries the full domain event", () => {
  const planned = planDelivery(["run.started", "run.completed"], stored);
  assert.match(planned?.id ?? "", /^whd-[0-9a-f-]{36}$/);
  assert.deepEqual(JSON.parse(planned?.body ?? ""), {
    event: "run.completed",
    ...about,
    timestamp: domainEvent.timestamp,
    data: { ...domainEvent, source: "api", outcome: "succeeded" },
  });
});

test("an event outside callback.events, of another kind, or of a session without callback makes none", () => {
  assert.equal(planDelivery(["run.started"], stored), undefined);
  assert.equal(planDelivery(["run.started"], { ...stored, kind: "browser.status" }), undefined);
  assert.equal(planDelivery(null, stored), undefined);
});
