import { type ContentProblem, checkDocumentContent } from "../../compile/check-document.ts";
import {
  type Change,
  type ChangeInput,
  type PageInput,
  type PageMatch,
  VARIANT_LIMITS,
  variantDocumentSchema,
} from "../../document.ts";
import { formatPath, type Imported } from "./imported.ts";

/** A change, and the path of the field of the imported document that contains the change. */
export type DraftChange = { path: string; change: ChangeInput };

/** A page of a variant, and the path of the field of the imported document that contains the page. */
export type Draft = {
  path: string;
  url: string;
  match: PageMatch;
  exclude?: NonNullable<PageInput["exclude"]>;
  changes: DraftChange[];
  css: string;
  js: string;
};

/**
 * Builds the pages of an import. Checks them in the same way as a document, and leaves out the invalid parts.
 *
 * @param omitted receives a sentence for each part that is left out
 */
export function collectPages(drafts: Draft[], omitted: string[]): Imported {
  const merged = mergeDrafts(drafts);
  const tooLarge = findSizeProblem(merged);
  if (tooLarge !== undefined) return { ok: false, problem: tooLarge };
  let pages = merged;
  for (const find of [findShapeProblems, checkDocumentContent]) {
    // The cast is safe: `checkDocumentContent` runs after `findShapeProblems` has removed invalid parts.
    const problems = find(toDocument(pages) as Parameters<typeof checkDocumentContent>[0]);
    const whole = problems.find(({ path }) => !path.startsWith("pages["));
    if (whole) return { ok: false, problem: `document: ${whole.problem}` };
    pages = omitProblems(pages, problems, omitted);
  }
  const used = pages.filter(({ changes, css, js }) => changes.length > 0 || `${css}${js}`.trim() !== "");
  if (used.length === 0)
    return {
      ok: false,
      problem: `document: has no changes to import. ${omitted.slice(-3).join(" ")}`.trim(),
    };
  return { ok: true, pages: used.map(toPage), omitted };
}

const toPage = ({ url, match, exclude = [], changes, css, js }: Draft): PageInput => ({
  url,
  match,
  ...(exclude.length > 0 && { exclude }),
  changes: changes.map(({ change }) => change),
  css,
  js,
});

/** Merges the drafts that have the same address pattern. */
function mergeDrafts(drafts: Draft[]): Draft[] {
  const merged = new Map<string, Draft>();
  for (const draft of drafts) {
    const key = JSON.stringify([draft.match, draft.url, draft.exclude ?? []]);
    const first = merged.get(key);
    merged.set(
      key,
      first
        ? {
            ...first,
            changes: [...first.changes, ...draft.changes],
            css: [first.css, draft.css].filter(Boolean).join("\n"),
            js: mergeScripts(first.js, draft.js),
          }
        : draft,
    );
  }
  return [...merged.values()];
}

/**
 * Joins two scripts. Each script is wrapped in its own function, so its names and its `return` do not affect the other
 * script.
 */
function mergeScripts(first: string, second: string): string {
  if (first.trim() === "" || second.trim() === "") return first.trim() === "" ? second : first;
  return [first, second].map((js) => `(function () {\n${js}\n})();`).join("\n");
}

/** Checks the limits for sizes. This check comes first, so that HTML and scripts beyond the limits are never parsed. */
function findSizeProblem(drafts: Draft[]): string | undefined {
  const { pagesMax, changesMax, documentBytesMax } = VARIANT_LIMITS;
  if (drafts.length > pagesMax) return `document: must have at most ${pagesMax} pages, not ${drafts.length}`;
  const count = drafts.reduce((sum, { changes }) => sum + changes.length, 0);
  if (count > changesMax) return `document: must have at most ${changesMax} changes in total, not ${count}`;
  let bytes = 0;
  for (const draft of drafts) {
    bytes += Buffer.byteLength(JSON.stringify(toPage(draft)));
    if (bytes > documentBytesMax)
      return `document: must be at most ${documentBytesMax / 1024} KiB as a variant`;
  }
  return undefined;
}

/**
 * Builds a document from the drafts, for the checks. The ids of its changes are temporary; the caller of `collectPages`
 * assigns the final ids.
 */
function toDocument(drafts: Draft[]): { pages: (Omit<PageInput, "changes"> & { changes: Change[] })[] } {
  let last = 0;
  return {
    pages: drafts.map((draft) => ({
      ...toPage(draft),
      changes: draft.changes.map(({ change }) => ({ ...change, id: `c${++last}` }) as Change),
    })),
  };
}

function findShapeProblems(document: unknown): ContentProblem[] {
  const parsed = variantDocumentSchema.safeParse(document);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => ({ path: formatPath(path), problem: message }));
}

/** Leaves out the changes, style sheets, scripts and pages that have a problem. */
function omitProblems(drafts: Draft[], problems: ContentProblem[], omitted: string[]): Draft[] {
  const first = new Map<string, string>();
  for (const { path, problem } of problems) {
    const [, page = "", rest = ""] = /^pages\[(\d+)\](.*)$/s.exec(path) ?? [];
    const [place = rest] = /^\.changes\[\d+\]/.exec(rest) ?? [];
    const key = `${page}${place}`;
    const name = rest.slice(place.length).replace(/^\./, "");
    if (!first.has(key)) first.set(key, name === "" ? problem : `${name} ${problem}`);
  }
  const report = (path: string, problem: string) => omitted.push(`${path}: ${problem}.`);
  return drafts.flatMap((draft, page) => {
    const url = first.get(`${page}.url`) ?? first.get(`${page}`) ?? first.get(`${page}.match`);
    if (url !== undefined) {
      report(draft.path, `its address ${url}`);
      return [];
    }
    const [css, js] = (["css", "js"] as const).map((name) => {
      const problem = first.get(`${page}.${name}`);
      if (problem !== undefined) report(draft.path, `its ${name} ${problem}`);
      return problem === undefined ? draft[name] : "";
    });
    const changes = draft.changes.filter(({ path }, index) => {
      const problem = first.get(`${page}.changes[${index}]`);
      if (problem !== undefined) report(path, problem);
      return problem === undefined;
    });
    return [{ ...draft, css: css ?? "", js: js ?? "", changes }];
  });
}
