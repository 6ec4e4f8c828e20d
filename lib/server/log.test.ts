import assert from "node:assert/strict";
import { test } from "node:test";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { createLogger } from "./log.ts";

function linesOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger("info", { write: (line) => void lines.push(line) }));
  return lines.join("");
}

test("a failed query is logged with its statement and without its values, as `err` and as `error`", () => {
  const failed = new DrizzleQueryError(
    "insert into x values ($1)",
    ["canary\n    at nowhere"],
    new Error("gone"),
  );
  const text = linesOf((logger) => {
    logger.error({ err: failed }, "one");
    logger.error({ error: failed }, "two");
    logger.error({ err: new Error("outer", { cause: failed }) }, "three");
  });
  assert.doesNotMatch(text, /canary/);
  assert.equal(
    text
      .trim()
      .split("\n")
      .filter((line) => line.includes("insert into x values ($1)")).length,
    3,
  );
  assert.match(text, /gone/);
});

test("an error that is a string is logged unchanged", () => {
  assert.match(
    linesOf((logger) => logger.info({ error: "not there" }, "x")),
    /"error":"not there"/,
  );
});

test("headers, tokens and secrets are removed", () => {
  const text = linesOf((logger) =>
    logger.info({ headers: { a: "canary" }, call: { token: "canary", secret: "canary", cookie: "canary" } }),
  );
  assert.doesNotMatch(text, /canary/);
});
