import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, test } from "node:test";
import { listFiles } from "./read-imports.ts";

/**
 * A text that was found in a file, and its place (the file and the line). The text of a `Source:` comment, without
 * backticks, names a document, and after commas the sections and rules.
 */
type Reference = { place: string; text: string };

const root = resolve(import.meta.dirname, "../..");
const docs = "lib/docs";
const folders = ["app", "components", "db", "e2e", "inngest", "lib"];
const files = folders.flatMap(listFiles);
const code = files.filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.endsWith("sources.test.ts"));
const readmes = files.filter((file) => file.endsWith("/README.md"));
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...[...files, ...listFiles(".github")].filter(
    (file) => /^(?:lib\/docs|\.github)\//.test(file) && file.endsWith(".md"),
  ),
  ...readmes,
];

const EXTERNAL =
  /^(?:the )?(?:RFC \d+, |Postgres(?:QL)? manual, |HTML standard, |Fetch standard, |IANA |W3C, |Model Context Protocol |OWASP ASVS 5, |Standard Webhooks specification, |API reference, |declarations of )/i;

describe("references in code and documents", () => {
  test("every Source: comment names an existing document and section", () => {
    const references = code.flatMap((file) => readReferences(file, readFileSync(join(root, file), "utf8")));
    assert.ok(references.length > 100, "the comments were not found");
    report(
      references.flatMap(({ place, text }) => {
        const problem = findProblem(text);
        return problem ? [`${place}: "${text}": ${problem}`] : [];
      }),
    );
  });

  test("a reference extends to the end of its sentence, over several lines, and its section must exist", () => {
    const comment = [
      "/**",
      " * Makes it. Source: specification, Structured sessions,",
      " * Schema rules, 1 and 2; `wire.md`, No such section. More text.",
      " */",
    ].join("\n");
    const found = readReferences("a.ts", comment);
    assert.deepEqual(
      found.map(({ place, text }) => `${place} ${text}`),
      ["a.ts:2 specification, Structured sessions, Schema rules, 1 and 2", "a.ts:2 wire.md, No such section"],
    );
    assert.deepEqual(
      found.map(({ text }) => findProblem(text)),
      [undefined, "wire.md has no such section"],
    );
    assert.equal(findProblem("specification"), "names no section");
    assert.equal(findProblem("specification, Capabilities, rule 7"), 'Capabilities does not have "rule 7"');
    assert.equal(findProblem("somewhere"), "is no known document");
    assert.equal(findProblem("decision 999"), "there is no such decision");
  });

  test("every document that a comment mentions exists in lib/docs", () => {
    report(
      code.flatMap((file) =>
        findAll(file, /^\s*(?:\/?\*|\/\/).*?`([\w-]+\.md)`/gm)
          .filter(
            ({ text }) => !["README.md", "SKILL.md"].includes(text) && !existsSync(join(root, docs, text)),
          )
          .map(({ place, text }) => `${place}: there is no ${docs}/${text}`),
      ),
    );
  });

  test("every path and link in a document exists, with the section that a link names", () => {
    assert.ok(isTarget("lib/docs/README.md", "wire.md#post-apisession"));
    assert.ok(!isTarget("lib/docs/README.md", "wire.md#no-such-section"));
    report(
      pages.flatMap((page) => [
        ...findAll(
          page,
          /`((?:[\w.[\]-]+\/)*[\w.[\]-]+\.(?:ts|tsx|mjs)|(?:lib|e2e|db|inngest|app)\/[\w./[\]-]+)`/g,
        )
          .filter(({ text }) => !isFile(page, text))
          .map(({ place, text }) => `${place}: there is no ${text}`),
        ...findAll(page, /\]\((?!https?:)([^)\s]+)/g)
          .filter(({ text }) => !isTarget(page, text))
          .map(({ place, text }) => `${place}: the link ${text} leads nowhere`),
      ]),
    );
  });

  test("every decision is cited by the code or a document", () => {
    const texts = [...code, ...pages].map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
    const records = readdirSync(join(root, docs, "decisions"));
    assert.ok(records.length > 50, "the decisions were not found");
    report(
      records
        .filter((name) => {
          const cited = new RegExp(
            `decisions? (?:\\w+, |\\w+ and )*${name.split("-")[0]}\\b|decisions/${name}`,
          );
          return !texts.some(({ file, text }) => !file.endsWith(name) && cited.test(text));
        })
        .map((name) => `lib/docs/decisions/${name} is cited nowhere`),
    );
  });

  test("README.md has at most 250 lines, and lib/docs/README.md links every page of lib/docs", () => {
    assert.ok(readFileSync(join(root, "README.md"), "utf8").trimEnd().split("\n").length <= 250);
    const index = readFileSync(join(root, docs, "README.md"), "utf8");
    report(
      pages
        .filter((page) => /^lib\/docs\/(?!decisions\/|README)/.test(page))
        .map((page) => page.slice(docs.length + 1))
        .filter((page) => !index.includes(`](${page})`))
        .map((page) => `lib/docs/README.md does not link ${page}`),
    );
  });

  test("a README has at most 30 lines, and lib/README.md names every room, and at most two files for a question", () => {
    report(
      readmes
        .filter((file) => file !== "lib/README.md")
        .filter((file) => readFileSync(join(root, file), "utf8").trimEnd().split("\n").length > 30)
        .map((file) => `${file} has more than 30 lines`),
    );
    const map = readFileSync(join(root, "lib/README.md"), "utf8");
    const [, begin = ""] = map.split("## Where to begin");
    report(
      begin
        .split("\n")
        .filter((row) => (row.match(/`[\w./[\]-]+\.\w+`/g) ?? []).length > 2)
        .map((row) => `lib/README.md names more than two files: ${row}`),
    );
    const rooms = readdirSync(join(root, "lib"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    report(
      rooms
        .filter(({ name }) => !map.includes(`\`${name}\``) && !map.includes(`[${name}]`))
        .map(({ name }) => `lib/README.md does not name ${name}`),
    );
  });
});

function report(problems: string[]): void {
  assert.ok(problems.length === 0, `\n${problems.join("\n")}`);
}

/** Reads the references in all `Source:` comments of a file. */
function readReferences(file: string, text: string): Reference[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    let [, citation] = /(?:\/?\*|\/\/).*?\bSource(?: of [\w ]+)?: (.*)$/.exec(line) ?? [];
    if (citation === undefined) return [];
    for (let next = index + 1; !/\*\/|\.(?:\s|$)/.test(citation); next++) {
      const [, more] = /^\s*(?:\*(?!\/)|\/\/) ?([^@\s].*)$/.exec(lines[next] ?? "") ?? [];
      if (more === undefined) break;
      citation += ` ${more}`;
    }
    const [sentence = ""] = citation.split(/\s*\*\/|\.(?:\s|$)/);
    return sentence
      .split(";")
      .map((part) => ({ place: `${file}:${index + 1}`, text: part.replaceAll("`", "").trim() }));
  });
}

/** Returns the reason why a reference is invalid; undefined if it is valid. */
function findProblem(text: string): string | undefined {
  const [, decision] = /^decision (\w+)/.exec(text) ?? [];
  if (decision !== undefined) {
    const records = readdirSync(join(root, docs, "decisions"));
    return records.some((name) => name.startsWith(`${decision}-`)) ? undefined : "there is no such decision";
  }
  if (EXTERNAL.test(text)) return undefined;
  const [, name = "", rest] = /^(specification|[\w-]+\.md)(?:, (.+))?$/.exec(text) ?? [];
  const file = join(root, docs, name === "specification" ? "specification.md" : name);
  if (name === "" || !existsSync(file)) return "is no known document";
  if (rest === undefined) return "names no section";
  const [cited = ""] = rest.replace(/ \((.*)\)/, ", $1").split(": ");
  const parts = cited.replaceAll('"', "").split(", ");
  const sections = readSections(readFileSync(file, "utf8"));
  for (let count = parts.length; count > 0; count--) {
    const title = parts.slice(0, count).join(", ");
    const section = sections.find((one) => isNamed(one.title, title));
    if (!section) continue;
    const missing = parts.slice(count).find((part) => !holds(section.text, part));
    return missing === undefined ? undefined : `${title} does not have "${missing}"`;
  }
  return `${name} has no such section`;
}

type Section = { title: string; text: string };

/** Splits a document into sections at its headings. Some lines that end with a colon count as headings too. */
function readSections(text: string): Section[] {
  const lines = text.replaceAll("`", "").split("\n");
  const levels = lines.map(
    (line) => /^(#+) /.exec(line)?.[1]?.length ?? (/^[A-Z][^|]*:$/.test(line) ? 7 : 9),
  );
  return levels.flatMap((level, index) => {
    if (level > 7) return [];
    const end = levels.findIndex((other, at) => at > index && other <= level);
    const title = (lines[index] ?? "").replace(/^#+ |:$| \(.*\)$/g, "");
    return [{ title, text: lines.slice(index + 1, end < 0 ? undefined : end).join("\n") }];
  });
}

/** Whether a section has the wanted title. In the wanted title, `…` stands for any text. */
function isNamed(title: string, wanted: string): boolean {
  const pattern = wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*");
  return new RegExp(`^${pattern}$`, "i").test(title);
}

/** Whether a section contains the numbered rules or the words that a reference names. */
function holds(section: string, part: string): boolean {
  if (!/^(?:rules? )?\d+(?: (?:to|and) \d+)*$/.test(part))
    return section.toLowerCase().includes(part.toLowerCase());
  return (part.match(/\d+/g) ?? []).every((number) => new RegExp(`^ *${number}\\. `, "m").test(section));
}

/** Returns the first capturing group of each match in a file, with the file and the line. */
function findAll(file: string, pattern: RegExp): Reference[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(pattern)].map(({ index, 0: whole, 1: group = "" }) => {
    const line = text.slice(0, index + whole.indexOf(group)).split("\n").length;
    return { place: `${file}:${line}`, text: group };
  });
}

/**
 * Whether a path that a document names exists. Either the path is relative to the root, or it is the end of the path of
 * a file. If a README names the end of a path, the file must be below the README's folder.
 */
function isFile(page: string, path: string): boolean {
  const folder = page.startsWith(docs) || dirname(page) === "." ? "" : `${dirname(page)}/`;
  return (
    existsSync(join(root, path)) || files.some((file) => file.startsWith(folder) && file.endsWith(`/${path}`))
  );
}

/** Whether the target of a link exists: a file or folder, and the heading whose anchor the link names, if any. */
function isTarget(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  return [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].some(
    ([, title = ""]) => toAnchor(title) === anchor,
  );
}

/** Returns the anchor that GitHub gives a heading. */
const toAnchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
