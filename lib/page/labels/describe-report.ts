import type { ReportFinding, ToolCallView } from "../state/view-types.ts";
import type { Tone } from "./state-words.ts";

export type Severity = ReportFinding["severity"];

/** The severities of findings, worst first. */
export const SEVERITIES = ["critical", "serious", "moderate", "minor", "info"] as const satisfies Severity[];

/** The name and the color of each severity. The color only repeats the meaning of the name. */
export const SEVERITY_WORDS: Record<Severity, { name: string; tone: Tone }> = {
  critical: { name: "Critical", tone: "bad" },
  serious: { name: "Serious", tone: "bad" },
  moderate: { name: "Moderate", tone: "attention" },
  minor: { name: "Minor", tone: "busy" },
  info: { name: "Info", tone: "quiet" },
};

/** Formats a time in UTC, so that all readers see the same text: `2026-11-24 10:05 UTC`. */
export const formatMoment = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

/** Finds the path of the report that a tool call published; null for other calls. */
export function findReportOfCall(call: ToolCallView | undefined, sessionPath: string): string | null {
  if (call?.toolName !== "publish_qa_report" || call.state !== "succeeded") return null;
  const id = /^Published report (rep_[a-z2-7]{24}),/.exec(call.preview)?.[1];
  return id === undefined ? null : `${sessionPath}/reports/${id}`;
}
