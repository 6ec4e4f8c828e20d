import assert from "node:assert/strict";
import { test } from "node:test";
import { readRetryAfter, retryDelayMs, standardSchedule } from "./retry-schedule.ts";

test("the delays are 5, 25, 125 and 625 seconds, each up to a fifth shorter or longer", () => {
  for (const [index, plainMs] of [5_000, 25_000, 125_000, 625_000].entries()) {
    assert.equal(retryDelayMs(standardSchedule, index + 1, 0), plainMs * 0.8);
    assert.equal(retryDelayMs(standardSchedule, index + 1, 0.5), plainMs);
    assert.equal(retryDelayMs(standardSchedule, index + 1, 1), plainMs * 1.2);
  }
});

test("Retry-After is read as seconds or as a date; anything else is ignored", () => {
  const now = new Date("2026-11-20T10:00:00Z");
  const cases: [string | null, number | undefined][] = [
    ["120", 120_000],
    [" 0 ", 0],
    ["Fri, 20 Nov 2026 10:00:30 GMT", 30_000],
    ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    [null, undefined],
  ];
  for (const [header, expected] of cases) assert.equal(readRetryAfter(header, now), expected, String(header));
});
