/**
 * The reporter of `npm test` for node:test: a line per file, failures whole, and the counts as JSON in the file that
 * TEST_COUNTS_PATH names.
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";
import { formatSeconds } from "./progress.mjs";

/** @typedef {import("node:test/reporters").TestEvent} TestEvent */

/**
 * @param {AsyncIterable<TestEvent>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  let printed = [];
  for await (const event of events) {
    if (event.type === "test:stdout" || event.type === "test:stderr") printed.push(event.data.message);
    if (event.type === "test:fail" && !isSummaryOfSubtests(event.data)) {
      counts.failed += 1;
      yield describeFailure(event.data);
    }
    if (event.type === "test:pass" && event.data.details.type !== "suite") {
      if (event.data.skip === undefined || event.data.skip === false) counts.passed += 1;
      else counts.skipped += 1;
    }
    if (event.type === "test:summary" && event.data.file !== undefined) {
      const { file, success, duration_ms: durationMs, counts: own } = event.data;
      // What a file printed is shown only beside its failures.
      if (!success) yield printed.join("");
      printed = [];
      const skipped = own.skipped > 0 ? `, ${own.skipped} skipped` : "";
      yield `${success ? "✓" : "✗"} ${shorten(file)} · ${own.passed} passed${success ? "" : `, ${own.tests - own.passed - own.skipped} failed`}${skipped} (${formatSeconds(durationMs)})\n`;
    }
  }
  const path = process.env.TEST_COUNTS_PATH;
  if (path !== undefined) writeFileSync(path, JSON.stringify(counts));
}

/**
 * A suite, or a test that fails only because a test inside it failed, is not a failure of its own.
 * @param {Extract<TestEvent, { type: "test:fail" }>["data"]} data
 */
function isSummaryOfSubtests(data) {
  const error = /** @type {{ failureType?: string }} */ (data.details.error);
  return error.failureType === "subtestsFailed";
}

/** @param {Extract<TestEvent, { type: "test:fail" }>["data"]} data */
function describeFailure(data) {
  const error = /** @type {Error & { cause?: unknown }} */ (data.details.error);
  const place = data.file === undefined ? "" : ` (${shorten(data.file)}:${data.line})`;
  const reason = error.cause ?? error;
  const text = typeof reason === "string" ? reason : inspect(reason, { depth: 4 });
  return `\n✗ ${data.name}${place}\n${text.replace(/^/gm, "    ")}\n\n`;
}

/** @param {string} path */
function shorten(path) {
  return relative(process.cwd(), path);
}
