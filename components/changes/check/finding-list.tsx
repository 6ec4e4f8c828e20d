import { OctagonX, TriangleAlert } from "lucide-react";
import { type FindingView, VIEWPORT_NAMES } from "#lib/page/words/describe-check.ts";
import { formatAddress } from "#lib/page/words/format.ts";

/** Lists findings of a check with their severity, their message, and the widths at which the check found them. */
export function FindingList({
  findings,
  label,
  hasAddresses,
}: {
  findings: FindingView[];
  label: string;
  /** Whether each finding shows the address of its page. True if the check opened several pages. */
  hasAddresses: boolean;
}) {
  if (findings.length === 0) return null;
  return (
    <ul aria-label={label} className="flex flex-col gap-1">
      {findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the findings of a stored check never move
        <li key={index} className="flex min-w-0 gap-2 text-sm">
          {finding.level === "fail" ? (
            <OctagonX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          ) : (
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
          )}
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="sr-only">{finding.level === "fail" ? "Failed: " : "Warning: "}</span>
            {finding.message}{" "}
            <span className="text-faint text-xs">{describePlace(finding, hasAddresses)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function describePlace({ viewports, url }: FindingView, hasAddress: boolean): string {
  const widths = viewports.map((viewport) => VIEWPORT_NAMES[viewport].toLowerCase()).join(", ");
  return [...(widths ? [widths] : []), ...(hasAddress ? [formatAddress(url)] : [])].join(" · ");
}
