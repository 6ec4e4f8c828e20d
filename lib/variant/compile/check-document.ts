import { compileFunction } from "node:vm";
import { type Change, VARIANT_LIMITS, type VariantDocument, type VariantPage } from "../document.ts";
import { findSelectorProblem } from "./check-selector.ts";
import { compileHtml } from "./compile-html.ts";
import { findAttributeProblem } from "./unsafe-attributes.ts";

const GLOB_WILDCARDS_MAX = 8;

/** A problem in a field of a document. `path` names the field, for example `pages[0].changes[2].html`. */
export type ContentProblem = { path: string; problem: string };

/**
 * Checks what the schema of a document does not cover: HTML, attributes, selectors, scripts, addresses, duplicate ids,
 * duplicate pages and sizes. Returns all problems.
 */
export function checkDocumentContent(document: VariantDocument): ContentProblem[] {
  const problems: ContentProblem[] = [...checkSizes(document)];
  const firstPaths = { pages: new Map<string, string>(), ids: new Map<string, string>() };
  const requireUnique = (paths: Map<string, string>, key: string, path: string, what: string) => {
    const first = paths.get(key);
    if (first === undefined) paths.set(key, path);
    else problems.push({ path, problem: `${what} as ${first}` });
  };
  document.pages.forEach((page, index) => {
    const path = `pages[${index}]`;
    requireUnique(firstPaths.pages, `${page.match} ${page.url}`, path, "has the same url and match");
    problems.push(...checkPage(page, path));
    page.changes.forEach((change, position) => {
      const changePath = `${path}.changes[${position}]`;
      requireUnique(firstPaths.ids, change.id, `${changePath}.id`, "is the same id");
      problems.push(...checkChange(change, changePath));
    });
  });
  return problems;
}

function checkSizes(document: VariantDocument): ContentProblem[] {
  const { pagesMax, changesMax, documentBytesMax } = VARIANT_LIMITS;
  const problems: ContentProblem[] = [];
  const report = (problem: string) => problems.push({ path: "pages", problem });
  const changes = document.pages.reduce((count, page) => count + page.changes.length, 0);
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (document.pages.length > pagesMax) report(`must be at most ${pagesMax} pages`);
  if (changes > changesMax) report(`must have at most ${changesMax} changes in total, not ${changes}`);
  if (bytes > documentBytesMax)
    report(
      `the document must be at most ${documentBytesMax / 1024} KiB of JSON, not ${Math.ceil(bytes / 1024)}`,
    );
  return problems;
}

function checkPage(page: VariantPage, path: string): ContentProblem[] {
  const { exclude = [], js, when } = page;
  return [
    ...listProblems(path, {
      url: findAddressProblem(page),
      when: when === undefined ? undefined : findSelectorProblem(when),
      js: findScriptProblem(js),
    }),
    ...exclude.flatMap((each, index) =>
      listProblems(`${path}.exclude[${index}]`, { url: findAddressProblem(each) }),
    ),
  ];
}

function checkChange(change: Change, path: string): ContentProblem[] {
  return listProblems(path, {
    selector: findSelectorProblem(change.selector),
    target: change.op === "move" ? findSelectorProblem(change.target) : undefined,
    html: "html" in change ? findHtmlProblem(change.html) : undefined,
    ...(change.op === "setAttribute"
      ? { [isValueProblem(change.name) ? "value" : "name"]: findAttributeProblem(change.name, change.value) }
      : {}),
  });
}

/** Whether this attribute may be set. If so, a problem with it can only be in its value. */
const isValueProblem = (name: string) => findAttributeProblem(name, "") === undefined;

function listProblems(path: string, fields: Record<string, string | undefined>): ContentProblem[] {
  return Object.entries(fields).flatMap(([field, problem]) =>
    problem === undefined ? [] : [{ path: `${path}.${field}`, problem }],
  );
}

function findHtmlProblem(text: string): string | undefined {
  const compiled = compileHtml(text);
  return "problem" in compiled ? compiled.problem : undefined;
}

/** Returns why a page cannot have this address. Undefined if it can. */
export function findAddressProblem({ url, match }: Pick<VariantPage, "url" | "match">): string | undefined {
  if (match === "glob") {
    if (!/^https?:\/\/[^/?#]+\/[^#]*$/.test(url))
      return "must be a pattern such as https://shop.example/products/*, with host and path and without a fragment";
    const wildcards = url.match(/\*+/g)?.length ?? 0;
    return wildcards > GLOB_WILDCARDS_MAX ? `must have at most ${GLOB_WILDCARDS_MAX} wildcards` : undefined;
  }
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isWeb ? undefined : "must be an absolute http or https address";
}

/** Finds a syntax error in a script. The script is parsed as a function body and does not run. */
function findScriptProblem(js: string): string | undefined {
  try {
    compileFunction(js, [], { filename: "js" });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const line = /^js:(\d+)/.exec(error.stack ?? "")?.[1];
    return `is not valid JavaScript: ${error.message}${line === undefined ? "" : ` in line ${line}`}`;
  }
}
