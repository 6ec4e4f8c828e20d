import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { CDPSession } from "playwright";
import { createListenerGuard } from "../process/listener-guard.ts";
import { installOverlay } from "./install-overlay.ts";
import { OVERLAY_WORLD } from "./locate/call-on-node.ts";

test("of a page's frames, 1,000 have a world of the overlay; further ones are ignored", async () => {
  const drawn = new Set<number>();
  const send = async (method: string, params?: { contextId: number; expression: string }) => {
    if (method === "Runtime.evaluate" && params?.expression.includes(".draw(")) drawn.add(params.contextId);
    return { result: {} };
  };
  const cdp = Object.assign(new EventEmitter(), { send });
  let mainFrameId = "main";
  await installOverlay(cdp as unknown as CDPSession, {
    guard: createListenerGuard((error) => {
      throw error;
    }),
    mainFrameId: () => mainFrameId,
    gate: { isShown: () => true, isHiddenByScript: () => false },
    openDevtools: () => Promise.reject(new Error("no frame is opened")),
    onAnnotation: async () => ({ isStored: true }),
  });
  const create = (id: number) =>
    cdp.emit("Runtime.executionContextCreated", {
      context: { id, name: OVERLAY_WORLD, auxData: { frameId: `frame ${id}` } },
    });
  const show = (id: number) => {
    mainFrameId = `frame ${id}`;
    cdp.emit("Page.frameNavigated", {});
    return drawn.has(id);
  };
  for (let id = 1; id <= 1_500; id += 1) create(id);
  assert.deepEqual([1, 1_000, 1_001, 1_500].map(show), [true, true, false, false]);
  cdp.emit("Runtime.executionContextDestroyed", { executionContextId: 1 });
  create(2_000);
  assert.equal(show(2_000), true);
});
