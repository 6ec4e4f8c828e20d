import { OctagonX, ShieldQuestion, TriangleAlert } from "lucide-react";
import { describePlace, type FindingView } from "#lib/page/labels/describe-check.ts";
import { cn } from "../../ui/cn.ts";
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
          <FindingIcon finding={finding} />
          <div className="flex min-w-0 flex-col gap-1.5 [overflow-wrap:anywhere]">
            <p>
              <span className="sr-only">{nameKind(finding)}: </span>
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

function FindingIcon({ finding: { level, code } }: { finding: FindingView }) {
  const looks = "mt-0.5 size-4 shrink-0";
  if (code === "not_examined") return <ShieldQuestion aria-hidden className={cn(looks, "text-warn")} />;
  return level === "fail" ? (
    <OctagonX aria-hidden className={cn(looks, "text-bad")} />
  ) : (
    <TriangleAlert aria-hidden className={cn(looks, "text-warn")} />
  );
}

function nameKind({ level, code }: FindingView): string {
  if (code === "not_examined") return "Not examined";
  return level === "fail" ? "Failed" : "Warning";
}

/** Whether no earlier finding has the same picture. Findings about one change share a picture. */
const isFirst = (findings: FindingView[], index: number): boolean =>
  findings.findIndex(({ picture }) => picture?.id === findings[index]?.picture?.id) === index;
