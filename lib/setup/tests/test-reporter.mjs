/**
 * The reporter for node:test that `npm test` uses. It prints one line for each file and all failures in full. The
 * counts are written as JSON to the path in TEST_COUNTS_PATH.
 */
import { writeFileSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { inspect } from "node:util";
import { formatSeconds } from "../progress.mjs";

/** @typedef {import("node:test/reporters").TestEvent} TestEvent */
/** @typedef {Extract<TestEvent, { type: "test:fail" }>["data"]} Failure */
/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {Counts & { failures: { file: string, name: string }[] }} RunCounts */
/** @typedef {Counts & { printed: string, failures: { file?: string, name: string }[] }} FileEntry */

/**
 * @param {AsyncIterable<TestEvent>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* report(events) {
  /** @type {Map<string, FileEntry>} */
  const files = new Map();
  /**
   * What the lines of a group's files have told so far.
   * @type {Map<FileEntry, Counts>}
   */
  const reportedOf = new Map();
  /**
   * @param {{ file?: string | undefined, entryFile?: string }} place names the file that ran (`entryFile`), which can
   *   differ from the file that defines the test (`file`)
   */
  const at = (place) => {
    const file = resolve(place.entryFile ?? place.file ?? "");
    const entry = files.get(file) ?? { passed: 0, failed: 0, skipped: 0, printed: "", failures: [] };
    files.set(file, entry);
    return entry;
  };

  for await (const event of events) {
    if (event.type === "test:stdout" || event.type === "test:stderr")
      at(event.data).printed += event.data.message;
    // An error that is thrown while no test is running arrives as a diagnostic.
    if (event.type === "test:diagnostic" && event.data.message.startsWith("Error")) {
      at(event.data).printed += `${event.data.message}\n`;
    }
    if (event.type === "test:fail" && isOwnFailure(event.data)) {
      at(event.data).failed += 1;
      at(event.data).failures.push({ name: event.data.name });
      yield describeFailure(event.data);
      // A file that crashes has no summary event, so its output is printed here.
      if (isWholeFile(event.data)) yield addPrinted(at(event.data));
    }
    // A file in which no test ran passes as a whole, but it is no test.
    if (event.type === "test:pass" && event.data.details.type !== "suite" && !isWholeFile(event.data)) {
      if (isSet(event.data.skip) || isSet(event.data.todo)) at(event.data).skipped += 1;
      else at(event.data).passed += 1;
    }
    if ((event.type === "test:pass" || event.type === "test:fail") && isFileOfGroup(event.data)) {
      const { passed, failed, skipped } = at(event.data);
      const reported = reportedOf.get(at(event.data)) ?? { passed: 0, failed: 0, skipped: 0 };
      reportedOf.set(at(event.data), { passed, failed, skipped });
      const counts = {
        passed: passed - reported.passed,
        failed: failed - reported.failed,
        skipped: skipped - reported.skipped,
      };
      for (const failure of at(event.data).failures) failure.file ??= event.data.name;
      const isPassed = event.type === "test:pass";
      if (!isPassed) yield addPrinted(at(event.data));
      yield describeFile(event.data.name, isPassed, event.data.details.duration_ms, counts);
    }
    if (event.type === "test:summary" && event.data.file !== undefined) {
      const entry = at(event.data);
      // The output of a file is shown only if the file failed.
      if (!event.data.success) yield addPrinted(entry);
      if (!reportedOf.has(entry))
        yield describeFile(event.data.file, event.data.success, event.data.duration_ms, entry);
    }
    // With `--watch`: all tests that a change affects have run.
    if (event.type === "test:watch:drained") {
      const { passed, failed } = countAll(files);
      yield `\n${passed} passed, ${failed} failed; waiting for changes\n\n`;
      files.clear();
    }
  }
  const path = process.env.TEST_COUNTS_PATH;
  if (path !== undefined) writeFileSync(path, JSON.stringify(countAll(files)));
}

/** @param {Map<string, FileEntry>} files */
function countAll(files) {
  /** @type {RunCounts} */
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const [file, { passed, failed, skipped, failures }] of files) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    total.failures.push(...failures.map((failure) => ({ file, ...failure })));
  }
  return total;
}

/** @param {{ printed: string }} entry */
function addPrinted(entry) {
  const { printed } = entry;
  entry.printed = "";
  return printed === "" || printed.endsWith("\n") ? printed : `${printed}\n`;
}

/**
 * Whether a failure counts. A failure that only reports failed subtests does not, nor does a failure of a todo test.
 * @param {Failure} data
 */
function isOwnFailure(data) {
  const error = /** @type {{ failureType?: string }} */ (data.details.error);
  return error.failureType !== "subtestsFailed" && !isSet(data.todo);
}

/**
 * Whether a suite is a test file in a group (`group-test-files.mjs`).
 * @param {{ name: string, nesting: number, entryFile?: string, details: { type?: string | undefined } }} data
 */
function isFileOfGroup({ name, nesting, details }) {
  return nesting === 0 && details.type === "suite" && isAbsolute(name) && name.endsWith(".test.ts");
}

/** @param {{ name: string, file?: string | undefined }} data */
function isWholeFile(data) {
  return data.file !== undefined && resolve(data.name) === data.file;
}

/** @param {string | boolean | undefined} mark the value of `skip` or `todo`: true, or a reason, which may be empty */
function isSet(mark) {
  return mark !== undefined && mark !== false;
}

/** @param {Failure} data */
function describeFailure(data) {
  const error = /** @type {Error & { cause?: unknown }} */ (data.details.error);
  const place = data.file === undefined ? "" : ` (${relative(process.cwd(), data.file)}:${data.line})`;
  const reason = isWholeFile(data) ? "The test file crashed. Its output follows." : (error.cause ?? error);
  const text = typeof reason === "string" ? reason : inspect(reason, { depth: 4 });
  return `\n✗ ${data.name}${place}\n${text.replace(/^/gm, "    ")}\n\n`;
}

/**
 * @param {string} file
 * @param {boolean} success
 * @param {number} durationMs
 * @param {Counts} counts
 */
function describeFile(file, success, durationMs, { passed, failed, skipped }) {
  const rest = `${failed > 0 ? `, ${failed} failed` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  const name = relative(process.cwd(), file);
  return `${success ? "✓" : "✗"} ${name} · ${passed} passed${rest} (${formatSeconds(durationMs)})\n`;
}
