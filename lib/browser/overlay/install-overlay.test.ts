import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { CDPSession } from "playwright";
import { createListenerGuard } from "../process/listener-guard.ts";
import { installOverlay, OVERLAY_BINDING, OVERLAY_WORLD } from "./install-overlay.ts";

test("of a page's frames, 1,000 have a world of the overlay; reports of further ones are ignored", async () => {
  const cdp = Object.assign(new EventEmitter(), { send: async () => ({}) });
  const submitted: string[] = [];
  await installOverlay(cdp as unknown as CDPSession, {
    guard: createListenerGuard((error) => {
      throw error;
    }),
    mainFrameId: () => "main",
    gate: { isShown: () => true },
    async onAnnotation(body) {
      submitted.push(body);
      return { isStored: true };
    },
  });
  for (let id = 1; id <= 1_500; id += 1)
    cdp.emit("Runtime.executionContextCreated", { context: { id, name: OVERLAY_WORLD, auxData: {} } });
  const submit = (executionContextId: number) =>
    cdp.emit("Runtime.bindingCalled", {
      name: OVERLAY_BINDING,
      payload: JSON.stringify({ kind: "submit", body: String(executionContextId) }),
      executionContextId,
    });
  for (const id of [1, 1_000, 1_001, 1_500]) submit(id);
  assert.deepEqual(submitted, ["1", "1000"]);
  cdp.emit("Runtime.executionContextDestroyed", { executionContextId: 1 });
  cdp.emit("Runtime.executionContextCreated", { context: { id: 2_000, name: OVERLAY_WORLD, auxData: {} } });
  submit(2_000);
  assert.deepEqual(submitted, ["1", "1000", "2000"]);
});
