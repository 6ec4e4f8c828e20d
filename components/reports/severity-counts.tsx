import { SEVERITIES, SEVERITY_WORDS } from "#lib/page/labels/describe-report.ts";
import type { ReportSummary } from "#lib/page/state/view-types.ts";
import { Badge } from "../ui/badge.tsx";

/** Shows how many findings of each severity a report has. */
export function SeverityCounts({ counts }: { counts: ReportSummary["counts"] }) {
  const found = SEVERITIES.filter((severity) => counts[severity] > 0);
  if (found.length === 0) return <Badge tone="good">No findings</Badge>;
  return found.map((severity) => (
    <Badge key={severity} tone={SEVERITY_WORDS[severity].tone}>
      {counts[severity]} {SEVERITY_WORDS[severity].name.toLowerCase()}
    </Badge>
  ));
}
