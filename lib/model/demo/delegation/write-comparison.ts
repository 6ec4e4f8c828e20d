import { demoLabel, join, quote } from "../write-demo-report.ts";
import { type PageResult, readPageResult } from "./page-result.ts";

/** A page of the comparison and the name of the sub-agent that read it. */
type ComparedPage = { name: string; url: string };

/** The report of `wait_for_agents` on one sub-agent. */
export type AgentReport = {
  name: string;
  status: string;
  result: unknown;
  error: string | undefined;
  /** Whether the sub-agent submitted the result. If not, the result is the sub-agent's last text. */
  isSubmitted: boolean;
};

type Row = { fact: string; cell: (page: PageResult) => string };

const SENTENCE_CHARACTERS_MAX = 500;
const UNKNOWN = "not reported";

/** Formats a count. If only a part of the page was read, the count is a lower bound. */
const countOf = (counted: number | undefined, { isPartial }: PageResult): string =>
  counted === undefined ? UNKNOWN : `${isPartial && counted > 0 ? "at least " : ""}${counted}`;

/** Formats a count and the first counted items. */
function listOf(counted: string, shown: string[], total = shown.length): string {
  if (shown.length === 0) return counted;
  return `${counted}: ${shown.join(", ")}${total > shown.length ? ", …" : ""}`;
}

const ROWS: Row[] = [
  { fact: "Title", cell: ({ title }) => (title === undefined ? UNKNOWN : quote(title)) },
  { fact: "Address", cell: ({ url }) => (url === undefined ? UNKNOWN : quote(url)) },
  {
    fact: "Headings",
    cell: (page) => {
      const shown = page.headings.slice(0, 4).map((heading) => quote(heading));
      return listOf(countOf(page.headingCount, page), shown, page.headingCount);
    },
  },
  { fact: "Links", cell: (page) => countOf(page.linkCount, page) },
  { fact: "Forms", cell: (page) => countOf(page.formCount, page) },
  { fact: "Form fields", cell: (page) => countOf(page.fieldCount, page) },
  {
    fact: "Prices",
    cell: (page) => {
      const prices = page.products.map(({ name, price }) =>
        quote(name === price ? price : `${name} ${price}`),
      );
      return listOf(countOf(page.productCount, page), prices, page.productCount);
    },
  },
];

/** Returns short labels for pages: their paths if they share one origin, otherwise their full URLs. */
export function labelPages(urls: string[]): string[] {
  const parsed = urls.map((url) => new URL(url));
  const isOneOrigin = new Set(parsed.map(({ origin }) => origin)).size === 1;
  return parsed.map(({ href, pathname, search }) => (isOneOrigin ? `${pathname}${search}` : href));
}

/**
 * Writes the report of a comparison: a table with a column for each page, the differences, and the reason for each
 * missing result. All values come from the sub-agents' reports.
 */
export function writeComparison(
  pages: ComparedPage[],
  reports: AgentReport[],
  omitted: string | undefined,
): string {
  const labels = labelPages(pages.map(({ url }) => url));
  const compared: { label: string; page: PageResult }[] = [];
  const problems: string[] = [];
  for (const [index, { name, url }] of pages.entries()) {
    const report = reports.find((candidate) => candidate.name === name);
    const page =
      report?.status === "succeeded" && report.isSubmitted ? readPageResult(report.result) : undefined;
    if (page !== undefined) compared.push({ label: quote(labels[index] ?? url), page });
    else problems.push(`Sub-agent \`${name}\` has no result for ${url}: ${describeFailure(report)}`);
  }
  return join(
    compared.length > 0 ? writeTable(compared) : "No sub-agent could read its page.",
    compared.length > 1 ? describeDifferences(compared.map(({ page }) => page)) : undefined,
    ...problems,
    omitted,
    demoLabel,
  );
}

function writeTable(compared: { label: string; page: PageResult }[]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["Fact", ...compared.map(({ label }) => label)]),
    line(["---", ...compared.map(() => "---")]),
    ...ROWS.map(({ fact, cell }) => line([fact, ...compared.map(({ page }) => cell(page))])),
  ].join("\n");
}

function describeDifferences(pages: PageResult[]): string {
  const isSame = ({ cell }: Row) => new Set(pages.map(cell)).size === 1;
  const rows = ROWS.filter(({ fact }) => fact !== "Address");
  const names = (some: Row[]) => some.map(({ fact }) => fact.toLowerCase()).join(", ");
  const same = rows.filter(isSame);
  const different = rows.filter((row) => !isSame(row));
  return [
    different.length > 0 ? `Different: ${names(different)}.` : "",
    same.length > 0 ? `The same: ${names(same)}.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function describeFailure(report: AgentReport | undefined): string {
  if (report === undefined) return "it is not among the results.";
  const { status, error, result } = report;
  if (status !== "succeeded")
    return `it is ${status}${error === undefined ? "." : `: ${quote(error, SENTENCE_CHARACTERS_MAX)}`}`;
  // If nothing was submitted, the result is the sub-agent's last text. Its first paragraph explains the failure.
  if (typeof result === "string")
    return quote(unquote(result.split("\n\n", 1)[0] ?? ""), SENTENCE_CHARACTERS_MAX);
  return "its result is not an object.";
}

const unquote = (markdown: string): string => markdown.replace(/\\([\\`*_[\]<>|#~])/g, "$1");

/** Writes the report of a turn that could not delegate. The report quotes the tool's message. */
export const writeNoComparison = (attempt: string, refusal: string | undefined): string =>
  join(
    `I could not ${attempt}, so I compared nothing. The answer was: ${quote((refusal ?? "nothing").replace(/^Error: /, ""), SENTENCE_CHARACTERS_MAX)}`,
    demoLabel,
  );
