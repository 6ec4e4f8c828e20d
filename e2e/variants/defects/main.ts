import { parseArgs } from "node:util";
import type { CheckReport } from "#lib/variant/check/check-report.ts";
import type { Change, VariantDocument } from "#lib/variant/document.ts";
import { type CheckBench, openBench, summarize } from "../check/check-testing.ts";
import { writeDocument } from "../write-document.ts";
import { DEFECTS, type Defect, type Edit } from "./defects.ts";
import { HARMLESS } from "./harmless.ts";
import { type PageName, servePages } from "./pages.ts";

// Usage: `npm run variants -- --defects [--only covered,CSP]`. Checks variants with planted defects, and harmless ones,
// and tells which defects the check names and which false alarms it raises. The progress is written to stderr. A complete
// run writes lib/docs/variants-defects.md.

/** The check's own limits. The tests of the check use shorter ones. */
const LIMITS = { loadedMs: 1_000 };
const CAUGHT_MIN = DEFECTS.length - 1;

const { values } = parseArgs({ options: { defects: { type: "boolean" }, only: { type: "string" } } });
const isChosen = ({ name, page }: Edit) =>
  values.only === undefined || values.only.split(",").some((each) => each === name || each === page);
const log = (text: string) => process.stderr.write(`${text}\n`);

function toDocument({ changes = [], rest = {} }: Edit, url: string): VariantDocument {
  const withIds = changes.map((change, index) => ({ id: `c${index + 1}`, ...change }) as Change);
  return { pages: [{ url, match: "path", css: "", js: "", ...rest, changes: withIds }] };
}

async function check(bench: CheckBench, urls: Record<PageName, string>, edit: Edit): Promise<CheckReport> {
  const { viewports, tag } = edit;
  return bench.check(toDocument(edit, urls[edit.page]), {
    limits: LIMITS,
    ...(viewports && { viewports }),
    ...(tag && { tag }),
  });
}

const listCodes = (report: CheckReport) => [...new Set(summarize(report))].join(", ") || "no finding";

async function playDefect(bench: CheckBench, urls: Record<PageName, string>, defect: Defect) {
  const report = await check(bench, urls, defect);
  const isNamed = report.findings.some(
    ({ code }) => defect.codes === undefined || defect.codes.includes(code),
  );
  log(`${defect.name} (${defect.page}): ${isNamed ? "caught" : "MISSED"}: ${listCodes(report)}`);
  return { defect, isNamed, found: listCodes(report) };
}

async function playHarmless(bench: CheckBench, urls: Record<PageName, string>, edit: Edit) {
  const report = await check(bench, urls, { viewports: ["desktop", "phone"], ...edit });
  log(
    `${edit.name} (${edit.page}): ${report.findings.length === 0 ? "passed" : `FALSE ALARM: ${listCodes(report)}`}`,
  );
  for (const { message } of report.findings) log(`  ${message}`);
  for (const text of report.notes) log(`  note: ${text}`);
  return { edit, count: report.findings.length, found: listCodes(report) };
}

const bench = await openBench();
try {
  const urls = await servePages(bench);
  const defects = [];
  for (const defect of DEFECTS.filter(isChosen)) defects.push(await playDefect(bench, urls, defect));
  const harmless = [];
  for (const edit of HARMLESS.filter(isChosen)) harmless.push(await playHarmless(bench, urls, edit));
  const caught = defects.filter(({ isNamed }) => isNamed).length;
  const alarms = harmless.filter(({ count }) => count > 0);
  const page = `# Defects that the check of a variant finds

The result of \`npm run variants -- --defects\` of ${new Date().toISOString().slice(0, 10)}. It checks variants with one planted defect each, and harmless ones, on pages in the manner of others. A finding has its code and the change to which it belongs, or \`-\` for the page. ${caught} of ${defects.length} defects are caught, with ${alarms.length} false alarms on ${harmless.length} harmless edits.

| defect | page | caught | findings |
| --- | --- | --- | --- |
${defects.map(({ defect, isNamed, found }) => `| ${defect.name} | ${defect.page} | ${isNamed ? "yes" : "**no**"} | ${found} |`).join("\n")}

| harmless edit | page | findings |
| --- | --- | --- |
${harmless.map(({ edit, found }) => `| ${edit.name} | ${edit.page} | ${found} |`).join("\n")}
`;
  if (values.only === undefined) await writeDocument("variants-defects.md", page);
  else console.log(page);
  const isGood = values.only === undefined ? caught >= CAUGHT_MIN : caught === defects.length;
  process.exitCode = isGood && alarms.length === 0 ? 0 : 1;
} finally {
  await bench.close();
}
