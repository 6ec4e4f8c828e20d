import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextCronTime, parseCron } from "./cron.ts";

/** Thursday, 1 January 2026, 12:00:30. */
const NOW = Date.UTC(2026, 0, 1, 12, 0, 30);

describe("nextCronTime", () => {
  for (const [expression, next] of [
    ["* * * * *", "2026-01-01T12:01:00.000Z"],
    ["*/15 * * * *", "2026-01-01T12:15:00.000Z"],
    ["0 12 * * *", "2026-01-02T12:00:00.000Z"],
    ["5,10 3-4 * * *", "2026-01-02T03:05:00.000Z"],
    ["0 0 1 * *", "2026-02-01T00:00:00.000Z"],
    ["0 0 29 2 *", "2028-02-29T00:00:00.000Z"],
    ["30 9 * * 1-5", "2026-01-02T09:30:00.000Z"],
    ["0 0 * * 7", "2026-01-04T00:00:00.000Z"],
    ["0 0 13 * 5", "2026-01-02T00:00:00.000Z"],
    ["10/20 * * * *", "2026-01-01T12:10:00.000Z"],
  ] as const)
    it(`"${expression}" is next due at ${next}`, () => {
      assert.equal(new Date(nextCronTime(parseCron(expression), NOW) ?? 0).toISOString(), next);
    });

  it("is undefined for a schedule that is never due", () => {
    assert.equal(nextCronTime(parseCron("0 0 31 2 *"), NOW), undefined);
  });

  it("does not return a minute that has already begun", () => {
    const minute = Date.UTC(2026, 0, 1, 12);
    assert.equal(nextCronTime(parseCron("* * * * *"), minute), minute + 60_000);
  });
});

describe("parseCron", () => {
  for (const expression of [
    "",
    "* * * *",
    "60 * * * *",
    "* * 0 * *",
    "a * * * *",
    "*/0 * * * *",
    "TZ=UTC * * * * *",
    "5-3 * * * *",
  ])
    it(`"${expression}" is refused`, () => assert.throws(() => parseCron(expression)));
});
