import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** @typedef {{ severity: "fail" | "warn", rule: string, message: string, selector?: string, excerpt?: string }} Finding */

/** Writes a message to standard error and exits with code 2. @param {string} message @returns {never} */
export function refuse(message) {
  console.error(message);
  process.exit(2);
}

/**
 * Reads the command-line arguments; exits with code 2 if they are wrong.
 * @template {NonNullable<import("node:util").ParseArgsConfig["options"]>} Options
 * @param {string} help @param {Options} options
 * @returns {ReturnType<typeof parseArgs<{ allowPositionals: true, options: Options }>>}
 */
export function readArguments(help, options) {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  }
}

/** Reads a file of the workspace; exits with code 2 if it cannot be read. @param {string} path */
export function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return refuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const EXAMPLES_MAX = 8;

/**
 * Groups findings by rule, failures first. A group that contains a failure counts as a failure. Each group lists only a few
 * places, because a long list hides what matters.
 * @param {Finding[]} findings
 */
export function groupFindings(findings) {
  /** @type {Map<string, { severity: string, rule: string, count: number, places: Omit<Finding, "severity" | "rule">[] }>} */
  const groups = new Map();
  for (const { severity, rule, ...place } of findings) {
    const group = groups.get(rule) ?? { severity, rule, count: 0, places: [] };
    group.count += 1;
    if (severity === "fail") group.severity = severity;
    if (group.places.length < EXAMPLES_MAX) group.places.push(place);
    groups.set(rule, group);
  }
  return [...groups.values()].sort((one, other) => one.severity.localeCompare(other.severity));
}

/**
 * Prints a report as JSON. Sets the exit code to 1 if a finding is a failure.
 * @param {object} report @param {Finding[]} findings
 */
export function printReport(report, findings) {
  console.log(JSON.stringify(report, null, 1));
  process.exitCode = findings.some(({ severity }) => severity === "fail") ? 1 : 0;
}
