/** Which tests `npm test` runs: its arguments, and the files that they select. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { SetupError } from "../setup-error.mjs";
import { listFiles } from "../stamp.mjs";

/**
 * Reads the arguments of `npm test`.
 * @param {string[]} args
 * @throws {SetupError} if they are invalid
 */
export function readArguments(args) {
  try {
    const boolean = /** @type {const} */ ({ type: "boolean", default: false });
    const options = {
      unit: boolean,
      e2e: boolean,
      watch: boolean,
      grep: /** @type {const} */ ({ type: "string" }),
    };
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.watch && values.e2e) throw new Error("--watch runs unit tests only, so it excludes --e2e.");
    if (values.grep !== undefined) new RegExp(values.grep);
    return { ...values, filters: positionals };
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Lists test files. With `grep`, only files whose text matches it are selected, because loading a file that has no
 * matching test, and running its hooks, would take longer than most tests.
 * @param {string[]} roots
 * @param {string} ending
 * @param {string[]} filters
 * @param {string | undefined} grep
 */
export function selectFiles(roots, ending, filters, grep = "") {
  const name = new RegExp(grep.replace(/^\^|\$$/g, ""));
  return roots
    .flatMap((root) => listFiles(root))
    .filter((path) => path.endsWith(ending))
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .filter((path) => grep === "" || name.test(readFileSync(path, "utf8")))
    .sort();
}
