import { SEVERITIES, SEVERITY_WORDS, type Severity } from "#lib/page/labels/describe-report.ts";
import type { ReportSummary } from "#lib/page/state/view-types.ts";
import { cn } from "../ui/cn.ts";

/** Lets the person choose the severity of the findings that are shown. */
export function SeverityFilter({
  counts,
  only,
  onChange,
}: {
  counts: ReportSummary["counts"];
  /** The severity whose findings are shown; null for all. */
  only: Severity | null;
  onChange: (only: Severity | null) => void;
}) {
  const found = SEVERITIES.filter((severity) => counts[severity] > 0);
  if (found.length < 2) return null;
  return (
    <fieldset className="flex flex-wrap gap-1 print:hidden">
      <legend className="sr-only">Severity</legend>
      {[null, ...found].map((severity) => (
        <button
          key={severity}
          type="button"
          aria-pressed={severity === only}
          onClick={() => onChange(severity)}
          className={cn(
            "h-7 rounded-full border px-2.5 text-xs max-lg:h-9 max-lg:px-3",
            severity === only
              ? "border-accent bg-accent-soft text-accent-strong"
              : "text-soft hover:bg-hover",
          )}
        >
          {severity === null ? "All" : SEVERITY_WORDS[severity].name}
        </button>
      ))}
    </fieldset>
  );
}
