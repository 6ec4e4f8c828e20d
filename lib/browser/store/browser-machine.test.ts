import assert from "node:assert/strict";
import { test } from "node:test";
import { BROWSER_STATUSES } from "#db/schema/unions.ts";
import { type BrowserEvent, browserMachine } from "./browser-machine.ts";

const EVENTS: BrowserEvent[] = ["provision", "cameUp", "failed", "abandoned", "reaped", "lost"];
const MOVES: Record<string, string> = {
  "idle provision": "creating",
  "creating cameUp": "ready",
  "creating failed": "error",
  "creating abandoned": "expired",
  "ready reaped": "expired",
  "ready lost": "expired",
  "ready failed": "error",
  "expired provision": "creating",
  "error provision": "creating",
};

for (const status of BROWSER_STATUSES) {
  for (const event of EVENTS) {
    const to = MOVES[`${status} ${event}`];
    test(`${status} by ${event} ${to ? `is ${to}` : "is not allowed"}`, () => {
      if (to) assert.equal(browserMachine.next(status, event), to);
      else assert.throws(() => browserMachine.next(status, event), /browser: no move from/);
      assert.equal(browserMachine.can(status, event), to !== undefined);
    });
  }
}
