import assert from "node:assert/strict";
import { it } from "node:test";
import { runParts } from "./run-parts.ts";

it("runs each part after the one before, also after a failure, and then names the failed parts", async () => {
  const done: string[] = [];
  const warnings: unknown[] = [];
  const logger = { warn: (fields: unknown) => void warnings.push(fields) };
  const error = new Error("unreachable");
  await assert.rejects(
    runParts(logger, {
      removals: () => Promise.reject(error),
      async jobs() {
        done.push("jobs");
      },
      logins() {
        throw error;
      },
      async last() {
        done.push("last");
      },
    }),
    { message: "These parts of the regular work failed: removals, logins." },
  );
  assert.deepEqual(done, ["jobs", "last"]);
  assert.deepEqual(warnings, [
    { err: error, part: "removals" },
    { err: error, part: "logins" },
  ]);
  await runParts(logger, { async jobs() {} });
  assert.equal(warnings.length, 2);
});
