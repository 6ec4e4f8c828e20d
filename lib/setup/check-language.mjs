/**
 * A part of `npm run check`: finds the words of `avoided-words.mjs` in documents and in the code of the product, with its
 * comments, messages and texts for the model. In tests, checks only the comments and the names of the tests.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AVOIDED_WORDS } from "./avoided-words.mjs";

const FOLDERS = ["app", "components", "db", "e2e", "inngest", "lib"];
const CODE = /\.(tsx?|mjs)$/;
/** Matches tests and what only tests use. Their data may contain any words. */
const TEST = /^e2e\/|\.test\.tsx?$|testing|fixture/;
/**
 * Matches files that are not checked: the specification is kept verbatim, skills are texts for the model, `wire.ts` is
 * generated, and the list of words and the test of this check contain the words.
 */
const EXCLUDED =
  /^lib\/(docs\/specification\.md|skills\/library\/|client\/wire\.ts|setup\/(avoided-words|check-language\.test)\.)/;

/** What may be between two words of a phrase: white space, also with the beginning of a comment line. */
const BREAK = "\\s+(?:(?:\\*|//)\\s+)?";

/** @typedef {{ line: number, text: string }} Passage */

/**
 * Finds avoided words in a file.
 * @param {string} file path
 * @param {string} source text of the file
 * @returns {string[]} one sentence for each finding
 */
export function checkLanguage(file, source) {
  const passages = TEST.test(file) ? readPassages(source) : [{ line: 1, text: source }];
  return passages.flatMap(({ line, text }) =>
    AVOIDED_WORDS.flatMap(([avoided, instead]) =>
      [...text.matchAll(new RegExp(avoided.source.replaceAll(" ", BREAK), "gi"))]
        // A name of a constant, such as that of the user `nobody`.
        .filter(([match]) => match !== match.toUpperCase())
        .map(
          (match) =>
            `${file}:${line + text.slice(0, match.index).split("\n").length - 1}: "${match[0]}"; write: ${instead}`,
        ),
    ),
  );
}

/**
 * Lists the comments of a source file and the names of its tests. Adjacent comment lines are one passage.
 * @param {string} source
 * @returns {Passage[]}
 */
function readPassages(source) {
  /** @type {Passage[]} */
  const passages = [];
  let isOpen = false;
  for (const [index, text] of source.split("\n").entries()) {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*(?!\/))(.*)$/.exec(text)?.[1];
    const trailing = /[;,{(]\s+\/\/ (.*)$/.exec(text)?.[1];
    const name = /\b(?:test|it|describe)(?:\.\w+)?\(\s*["'`](.*)/.exec(text)?.[1];
    const found = comment ?? trailing ?? name;
    const last = passages.at(-1);
    // Joins the lines of a comment, because a phrase may continue on the next line.
    if (comment !== undefined && isOpen && last) last.text += `\n${comment}`;
    else if (found !== undefined) passages.push({ line: index + 1, text: found });
    isOpen = comment !== undefined;
  }
  return passages;
}

/** @returns {string[]} */
const listFiles = () =>
  [
    ...readdirSync(".").filter((name) => name.endsWith(".md")),
    ...FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && (CODE.test(entry.name) || entry.name.endsWith(".md")))
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
  ].filter((file) => !EXCLUDED.test(file));

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const findings = listFiles().flatMap((file) => checkLanguage(file, readFileSync(file, "utf8")));
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
