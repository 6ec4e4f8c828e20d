import { OctagonX, TriangleAlert } from "lucide-react";
import { describePlace, type FindingView } from "#lib/page/words/describe-check.ts";
import { FindingPicture } from "./finding-picture.tsx";

/** Lists findings of a check with their severity, their message, and the widths at which the check found them. */
export function FindingList({
  findings,
  label,
  hasAddresses,
  hasPictures = false,
}: {
  findings: FindingView[];
  label: string;
  /** Whether each finding shows the address of its page. True if the check opened several pages. */
  hasAddresses: boolean;
  /** Whether findings show their pictures. */
  hasPictures?: boolean;
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
          <div className="flex min-w-0 flex-col gap-1.5 [overflow-wrap:anywhere]">
            <p>
              <span className="sr-only">{finding.level === "fail" ? "Failed: " : "Warning: "}</span>
              {finding.message}{" "}
              <span className="text-faint text-xs">{describePlace(finding, hasAddresses)}</span>
            </p>
            {hasPictures && finding.picture && isFirst(findings, index) && (
              <FindingPicture evidence={finding.picture} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Whether no earlier finding has the same picture. Findings about one change share a picture. */
const isFirst = (findings: FindingView[], index: number): boolean =>
  findings.findIndex(({ picture }) => picture?.id === findings[index]?.picture?.id) === index;
