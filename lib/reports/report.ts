import { z } from "zod";
import { FINDING_SEVERITIES, type FindingSeverity } from "#db/schema/unions.ts";
import type { EvidencePointer, ReportSummary } from "#lib/events/event.ts";
import { httpUrlUpTo } from "#lib/text/http-url.ts";

export const REPORT_LIMITS = {
  titleCharacters: 200,
  summaryCharacters: 10_000,
  detailCharacters: 4_000,
  urlCharacters: 2_048,
  selectorCharacters: 1_000,
  stepCharacters: 1_000,
  findings: 200,
  steps: 30,
  evidenceOfFinding: 20,
  /** Maximum size of a report's document as JSON, in bytes. */
  bytes: 256 * 1024,
  /** Maximum number of reports of a session. Each version counts. */
  reports: 100,
} as const;

const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });
const text = (max: number) =>
  z.string().max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });
const list = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item).max(max, { error: `must hold at most ${max} entries` });

const findingSchema = z.strictObject({
  severity: z
    .enum(FINDING_SEVERITIES, { error: `must be one of ${FINDING_SEVERITIES.join(", ")}` })
    .describe("critical blocks people; info is an observation that needs no repair"),
  title: line(REPORT_LIMITS.titleCharacters),
  detail: text(REPORT_LIMITS.detailCharacters).describe(
    "Markdown: what is wrong, whom it affects, how to repair it",
  ),
  url: httpUrlUpTo(REPORT_LIMITS.urlCharacters).optional().describe("the page"),
  selector: line(REPORT_LIMITS.selectorCharacters).optional(),
  steps: list(line(REPORT_LIMITS.stepCharacters), REPORT_LIMITS.steps)
    .optional()
    .describe("how to reproduce it"),
  evidenceIds: list(z.string(), REPORT_LIMITS.evidenceOfFinding)
    .optional()
    .describe("ids of pictures and saved pages, such as evi_…"),
});

/** Schema of the input of `publish_qa_report`. */
export const reportInputSchema = z.strictObject({
  title: line(REPORT_LIMITS.titleCharacters),
  summary: text(REPORT_LIMITS.summaryCharacters).describe("Markdown: what was looked at, and the verdict"),
  findings: list(findingSchema, REPORT_LIMITS.findings),
});

export type ReportInput = z.output<typeof reportInputSchema>;

/** A finding as it is stored and shown. `evidence` has the ids and titles of the evidence, not its content. */
export type Finding = {
  severity: FindingSeverity;
  title: string;
  /** Markdown. */
  detail: string;
  url: string | null;
  selector: string | null;
  steps: string[];
  evidence: EvidencePointer[];
};

/** The content of a report. The findings are sorted, most severe first. */
export type ReportDocument = { summary: string; findings: Finding[] };

/**
 * The state of a variant when a report was published: the variant's newest revision, and the check of that revision.
 */
export type TestedVariant = {
  variant: string;
  revision: number;
  check: { status: "pass" | "warn" | "fail"; at: string } | null;
};

/** A report with its findings. */
export type Report = ReportSummary & {
  sessionId: string;
  /** The newest version of this report. If the report itself is the newest version, `newest.id` is equal to `id`. */
  newest: { id: string; version: number; url: string };
  tested: TestedVariant[];
} & ReportDocument;

/** Returns the path of a report's page. */
export const reportUrl = (sessionId: string, reportId: string): string =>
  `/s/${sessionId}/reports/${reportId}`;

/** Counts the findings of each severity. */
export function countFindings(findings: readonly Pick<Finding, "severity">[]): ReportSummary["counts"] {
  const counts = { critical: 0, serious: 0, moderate: 0, minor: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

/**
 * Finds the first evidence id that does not exist in the session or its sub-agents, and the field with this id. Returns
 * undefined if all ids exist.
 */
export function findUnknownEvidence(
  { findings }: ReportInput,
  available: ReadonlyMap<string, EvidencePointer>,
): { field: string; id: string } | undefined {
  for (const [at, { evidenceIds = [] }] of findings.entries())
    for (const [index, id] of evidenceIds.entries())
      if (!available.has(id)) return { field: `findings[${at}].evidenceIds[${index}]`, id };
  return undefined;
}

/**
 * Builds the document of a report. Adds the descriptions of the evidence to the findings, and sorts the findings by
 * severity. Equally severe findings keep the order of the input.
 */
export function composeDocument(
  { summary, findings }: ReportInput,
  available: ReadonlyMap<string, EvidencePointer>,
): ReportDocument {
  const rank = (severity: FindingSeverity) => FINDING_SEVERITIES.indexOf(severity);
  return {
    summary,
    findings: findings
      .map(({ severity, title, detail, url = null, selector = null, steps = [], evidenceIds = [] }) => ({
        severity,
        title,
        detail,
        url,
        selector,
        steps,
        evidence: [...new Set(evidenceIds)].flatMap((id) => available.get(id) ?? []),
      }))
      .toSorted((one, other) => rank(one.severity) - rank(other.severity)),
  };
}
