#!/usr/bin/env node
import { groupFindings, printReport, readArguments, readText, refuse } from "./lib/command.mjs";
import {
  attribute,
  elementsOf,
  indexOf,
  isHidden,
  nameOf,
  parseHtml,
  selectorOf,
  textOf,
} from "./lib/html.mjs";
import { findRepeats, findVariants, measure, splitSentences } from "./lib/text.mjs";

/** @typedef {import("./lib/command.mjs").Finding} Finding */
/** @typedef {import("./lib/html.mjs").Element} Element */
/** @typedef {{ kind: "heading" | "text" | "control", text: string, selector: string }} Piece */

const HELP = `Usage: copy-check.mjs [--max-words <n>] [--glossary <terms.json>] <page.html | page.txt>...

Checks the copy of one or several saved pages: reading ease (English), long sentences, placeholder text, doubled words,
repeated sentences, terms that the pages use side by side, capitals of headings and controls, shouting. Prints JSON: numbers of
each page, and findings grouped by rule; "page" of a finding is its file.

--max-words   words from which a sentence is long, 25 if left out
--glossary    a JSON list of lists of terms that mean the same, the preferred one first: [["sign in", "log in"]]

Exit code: 0 nothing fails, 1 something fails, 2 wrong use or a file that cannot be read.`;

const { values, positionals } = readArguments(HELP, {
  help: { type: "boolean" },
  "max-words": { type: "string", default: "25" },
  glossary: { type: "string" },
});
const maxWords = Number(values["max-words"]);

/** @param {string[]} paths */
function checkPages(paths) {
  const pages = paths.map((path) => ({ path, pieces: readPieces(readText(path), path) }));
  const findings = [
    ...pages.flatMap(({ path, pieces }) => pieces.flatMap((piece) => checkPiece(piece, path))),
    ...checkCapitals(pages),
    ...checkRepeats(pages),
    ...checkTerms(pages),
  ];
  const numbers = pages.map(({ path, pieces }) => ({
    page: path,
    ...measure(pieces.filter(({ kind }) => kind === "text").map(({ text }) => text)),
    headings: pieces.filter(({ kind }) => kind === "heading").length,
    controls: pieces.filter(({ kind }) => kind === "control").length,
  }));
  printReport({ pages: numbers, findings: groupFindings(findings) }, findings);
}

const TEXT_TAGS = new Set("p li dd dt td th blockquote figcaption summary label legend".split(" "));

/**
 * Lists the texts of a page: headings, control labels and running text. An element of running text is not listed if it
 * contains a block, such as a paragraph, a heading or a list. The paragraphs of a text file all count as running text.
 * @param {string} source @param {string} path @returns {Piece[]}
 */
function readPieces(source, path) {
  if (!/\.html?$/i.test(path))
    return source.split(/\n\s*\n/).map((text, index) => ({
      kind: "text",
      text: text.replace(/\s+/g, " ").trim(),
      selector: `paragraph ${index + 1}`,
    }));
  const root = parseHtml(source);
  const index = indexOf(root);
  /** @type {Piece[]} */
  const pieces = [];
  for (const element of elementsOf(root)) {
    if (isHidden(element)) continue;
    const { tag, children } = element;
    const isControl =
      tag === "button" ||
      (tag === "a" && attribute(element, "href") !== undefined) ||
      (tag === "input" && ["submit", "button"].includes(attribute(element, "type") ?? ""));
    const kind = /^h[1-6]$/.test(tag) ? "heading" : isControl ? "control" : "text";
    // Longer text that is not in a paragraph belongs to the element that directly contains it, such as a div.
    const isText =
      TEXT_TAGS.has(tag) ||
      (["div", "section", "article", "main", "span"].includes(tag) &&
        children.some((child) => typeof child === "string" && child.trim().length > 20));
    if (kind === "text" && !isText) continue;
    if (kind === "text" && holdsText(element)) continue;
    const text = isControl ? nameOf(element, index).name : textOf(element);
    if (text !== "") pieces.push({ kind, text, selector: selectorOf(element) });
  }
  return pieces;
}

/** Whether an element contains another element whose text is listed separately. @param {Element} element */
function holdsText(element) {
  for (const { tag } of elementsOf(element))
    if (TEXT_TAGS.has(tag) || /^(h[1-6]|div|ul|ol|table)$/.test(tag)) return true;
  return false;
}

/** @type {[RegExp, string][]} */
const PLACEHOLDERS = [
  [/\blorem ipsum\b|\bdolor sit amet\b/i, "Lorem ipsum"],
  [/\b(TODO|TBD|TBA|FIXME|XXX+)\b/, "a note for the authors"],
  [/\{\{[^}]{0,200}\}\}|\$\{[^}]{0,200}\}|<%[^%]*%>|%[a-z]+_[a-z_]+%/i, "a template that was not filled in"],
  [/\[(your|company|product|name|insert|first|last)[^\]]{0,30}\]/i, "a placeholder in brackets"],
  [/\b(undefined|NaN|null)\b|\[object Object\]/, "a value of a program"],
  [
    /\b(insert|enter|add) (your )?(text|copy|content|headline|title) here\b|\byour (text|headline|title) here\b/i,
    "a placeholder",
  ],
  [/\b(untitled|new page|sample (page|text)|example heading)\b/i, "a name that nobody has changed"],
];
const VAGUE = /^(click( here)?|here|more|read more|learn more|submit|ok|link|go)$/i;

/** @param {Piece} piece @param {string} page @returns {Finding[]} */
function checkPiece({ kind, text, selector }, page) {
  /** @type {Finding[]} */
  const findings = [];
  /** @param {Finding["severity"]} severity @param {string} rule @param {string} message @param {string} [excerpt] */
  const add = (severity, rule, message, excerpt = text) =>
    findings.push({
      severity,
      rule,
      message: `${page}: ${message}`,
      selector,
      excerpt: excerpt.slice(0, 160),
    });
  for (const [pattern, what] of PLACEHOLDERS) {
    const found = pattern.exec(text);
    if (found) add("fail", "placeholder", `${what}: ${found[0]}`);
  }
  const doubled = /\b(\p{L}{2,40})\s+\1\b/iu.exec(text);
  if (doubled && !/^(that|had|bye|so|very|ha|no)$/i.test(doubled[1] ?? ""))
    add("fail", "doubled-word", `"${doubled[0]}"`);
  if (kind === "control" && VAGUE.test(text))
    add("warn", "vague-control", `"${text}" does not say what happens`);
  if (kind === "heading" && text.length > 80)
    add("warn", "long-heading", `a heading of ${text.length} characters`);
  if (/!{2,}|\?{2,}/.test(text)) add("warn", "shouting", "several marks in a row");
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters >= 12 && text === text.toUpperCase() && /\s/.test(text))
    add("warn", "shouting", "written in capitals");
  if (/ [,.;:!?](\s|$)/.test(text)) add("warn", "typography", "a blank before a mark");
  if (kind === "text")
    for (const sentence of splitSentences(text)) {
      const count = sentence.split(/\s+/).length;
      if (count > maxWords) add("warn", "long-sentence", `${count} words`, sentence);
    }
  return findings;
}

const SMALL = new Set("a an and as at but by for from in into of on or per the to vs via with".split(" "));

/** @param {string} text @returns {"title" | "sentence" | undefined} */
function caseOf(text) {
  const words = text
    .split(/\s+/)
    .slice(1)
    .filter((word) => /^\p{L}[\p{Ll}’']+$/u.test(word) && !SMALL.has(word.toLowerCase()));
  if (words.length === 0) return undefined;
  const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
  if (capitals === words.length) return "title";
  return capitals === 0 ? "sentence" : undefined;
}

/**
 * Checks whether all headings use the same capitalization, and whether all controls use the same capitalization.
 * @param {{ path: string, pieces: Piece[] }[]} pages @returns {Finding[]}
 */
function checkCapitals(pages) {
  /** @type {Finding[]} */
  const findings = [];
  for (const kind of /** @type {const} */ (["heading", "control"])) {
    const pieces = pages.flatMap(({ path, pieces: all }) =>
      all.filter((each) => each.kind === kind).map((each) => ({ ...each, path, style: caseOf(each.text) })),
    );
    const [titles, sentences] = [
      pieces.filter(({ style }) => style === "title"),
      pieces.filter(({ style }) => style === "sentence"),
    ];
    if (titles.length === 0 || sentences.length === 0) continue;
    const [rare, usual] =
      titles.length < sentences.length ? [titles, "Sentence case"] : [sentences, "Title Case"];
    for (const { path, text, selector } of rare)
      findings.push({
        severity: "warn",
        rule: `${kind}-capitals`,
        message: `${path}: the other ${kind}s have ${usual}`,
        selector,
        excerpt: text,
      });
  }
  return findings;
}

/** @param {{ path: string, pieces: Piece[] }[]} pages @returns {Finding[]} */
function checkRepeats(pages) {
  const sentences = pages.flatMap(({ path, pieces }) =>
    pieces
      .filter(({ kind }) => kind === "text")
      .flatMap(({ text, selector }) =>
        splitSentences(text).map((sentence) => ({ sentence, path, selector })),
      ),
  );
  return findRepeats(sentences).map(({ phrase, places }) => ({
    severity: "warn",
    rule: "repeated",
    message: `${places.length} times: ${[...new Set(places.map(({ path }) => path))].join(", ")}`,
    selector: places[0]?.selector ?? "",
    excerpt: phrase.slice(0, 160),
  }));
}

/** @param {{ path: string, pieces: Piece[] }[]} pages @returns {Finding[]} */
function checkTerms(pages) {
  const texts = pages.flatMap(({ path, pieces }) =>
    pieces.map(({ text, selector }) => ({ text, path, selector })),
  );
  return findVariants(texts, readGlossary()).map(({ terms, places, isGiven }) => ({
    severity: isGiven ? "fail" : "warn",
    rule: "terms",
    message: `the same thing in several words: ${terms.map(({ term, count }) => `"${term}" ${count}×`).join(", ")}`,
    selector: places[0]?.selector ?? "",
    excerpt: places.map(({ path, text }) => `${path}: ${text.slice(0, 60)}`).join(" | "),
  }));
}

/** @returns {string[][] | undefined} */
function readGlossary() {
  if (values.glossary === undefined) return undefined;
  try {
    const lists = JSON.parse(readText(values.glossary));
    if (
      Array.isArray(lists) &&
      lists.every((list) => Array.isArray(list) && list.every((term) => typeof term === "string"))
    )
      return lists;
  } catch {}
  return refuse(`${values.glossary} is not a JSON list of lists of terms`);
}

if (values.help) console.log(HELP);
else if (positionals.length === 0 || !Number.isInteger(maxWords) || maxWords < 5) refuse(HELP);
else checkPages(positionals);
