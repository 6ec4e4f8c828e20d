import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { Page } from "playwright";
import { createListenerGuard } from "#lib/browser/process/listener-guard.ts";
import { followProblems, listNewErrors, listNewRequests } from "./page-problems.ts";

test("of one load, 200 errors and 200 failed requests are kept, each with 300 characters", () => {
  const page = new EventEmitter();
  const guard = createListenerGuard((error) => {
    throw error;
  });
  const problems = followProblems(page as unknown as Page, guard);
  for (let index = 0; index < 300; index += 1) {
    // Only letters differ, because numbers do not make two problems different.
    const name = String.fromCodePoint(0x4e00 + index);
    page.emit("pageerror", new Error(name + "x".repeat(5_000)));
    page.emit("console", { type: () => "error", text: () => `logged ${name}` });
    const url = () => `https://a.example/${name}${"x".repeat(5_000)}`;
    page.emit("requestfailed", {
      method: () => "GET",
      url,
      failure: () => ({ errorText: "net::ERR_FAILED" }),
    });
    page.emit("response", { status: () => 404, request: () => ({ method: () => "POST", url }) });
  }
  for (const texts of [listNewErrors(problems, []), listNewRequests(problems, [])]) {
    assert.equal(texts.length, 200);
    assert.equal(Math.max(...texts.map((text) => text.length)), 300);
  }
});
