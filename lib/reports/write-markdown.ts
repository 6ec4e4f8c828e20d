import { FINDING_SEVERITIES } from "#db/schema/unions.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { quoteMarkdown } from "./quote-markdown.ts";
import type { Finding, Report, TestedVariant } from "./report.ts";

/**
 * Writes a report as Markdown. Text of the agent cannot alter the structure: titles and steps are escaped, addresses
 * and selectors become code, and the summary and details become block quotes. Source: `wire.md`, Reports.
 *
 * @param baseUrl the public origin of the service, for links to evidence
 */
export function writeMarkdown(report: Report, baseUrl: string): string {
  const { title, version, createdAt, sessionId, url, findings, summary } = report;
  const artifacts = `${baseUrl}/api/sessions/${sessionId}/artifacts`;
  const blocks = [
    `# ${escapeText(title)}`,
    [
      `- Published: ${createdAt}, version ${version}`,
      `- Session: ${asCode(sessionId)}`,
      `- Report: <${baseUrl}${url}>`,
      ...report.tested.map(describeTested),
      `- Findings: ${countInWords(report)}`,
    ].join("\n"),
    ...(summary.trim() === "" ? [] : ["## Summary", quoteMarkdown(summary)]),
    ...(findings.length === 0 ? [] : ["## Findings"]),
    ...findings.flatMap((finding, index) => writeFinding(finding, index + 1, artifacts)),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function writeFinding(finding: Finding, number: number, artifacts: string): string[] {
  const { severity, title, detail, url, selector, steps, evidence } = finding;
  const facts = [
    ...(url === null ? [] : [`- Page: ${asCode(url)}`]),
    ...(selector === null ? [] : [`- Element: ${asCode(selector)}`]),
  ];
  return [
    `### ${number}. [${severity}] ${escapeText(title)}`,
    ...(facts.length === 0 ? [] : [facts.join("\n")]),
    ...(detail.trim() === "" ? [] : [quoteMarkdown(detail)]),
    ...(steps.length === 0
      ? []
      : ["Steps:", steps.map((step, index) => `${index + 1}. ${escapeText(step)}`).join("\n")]),
    ...(evidence.length === 0
      ? []
      : [
          "Evidence:",
          evidence
            .map((piece) => `- [${escapeText(piece.title || piece.id)}](${artifacts}/${piece.id})`)
            .join("\n"),
        ]),
  ];
}

const describeTested = ({ variant, revision, check }: TestedVariant): string =>
  `- Tested: variant ${asCode(variant)}, revision ${revision}, ${check ? `check: ${check.status} (${check.at})` : "not checked"}`;

function countInWords({ counts, findings }: Report): string {
  const parts = FINDING_SEVERITIES.flatMap((severity) =>
    counts[severity] > 0 ? [`${counts[severity]} ${severity}`] : [],
  );
  return parts.length === 0 ? "none" : `${findings.length} (${parts.join(", ")})`;
}

/**
 * Writes text on one line. Escapes inline Markdown, and escapes characters at the start that would begin a heading or a
 * list.
 */
const escapeText = (text: string): string =>
  oneLine(text)
    .replace(/[\\`*_[\]<>|~$&]/g, "\\$&")
    .replace(/^[#+=-]/, "\\$&")
    .replace(/^(\d+)([.)])/, "$1\\$2");

/** Writes text as a code span on one line. The fence of the span is longer than any run of backticks in the text. */
function asCode(text: string): string {
  const line = oneLine(text);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return fence + pad + line + pad + fence;
}
