"use client";

import { ChevronRight } from "lucide-react";
import { formatChangeCount } from "#lib/page/labels/describe-change.ts";
import { describeCheck, groupFindings, hasSeveralPages } from "#lib/page/labels/describe-check.ts";
import { describePublication } from "#lib/page/labels/describe-publication.ts";
import type { VariantView } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { FindingList } from "./check/finding-list.tsx";
import { useRevision } from "./use-revision.ts";

const FINDINGS_MAX = 3;

/**
 * Lists the variants in the result of a session, each with its revision, number of changes, check and publication. Also
 * shows the first findings of a check that failed or passed with warnings.
 */
export function VariantResults() {
  const { variants } = useSession();
  return (
    <ul aria-label="Variants" className="flex flex-col divide-y">
      {variants.map((variant) => (
        <li key={variant.key} className="px-4 py-3">
          <VariantResult variant={variant} />
        </li>
      ))}
    </ul>
  );
}

function VariantResult({ variant }: { variant: VariantView }) {
  const { open } = useDrawer();
  const { tone, title } = describeCheck(variant.check);
  const { changeCount } = variant;
  const publication = describePublication(variant);
  return (
    <div className="flex flex-col gap-2">
      <button
        type="button"
        onClick={() => open("changes", { variantKey: variant.key })}
        className="-mx-2 flex min-h-8 flex-wrap items-center gap-x-2 gap-y-1 rounded-md px-2 py-1 text-left text-sm hover:bg-hover"
      >
        <span className="min-w-0 truncate font-medium font-mono">{variant.key}</span>
        <span className="text-soft">
          revision {variant.revision}
          {changeCount !== null && `, ${formatChangeCount(changeCount)}`}
        </span>
        <Badge tone={tone}>{title}</Badge>
        <Badge tone={publication.tone}>{publication.title}</Badge>
        <span className="ml-auto flex items-center gap-1 text-accent-strong text-xs">
          Show changes <ChevronRight aria-hidden className="size-3.5" />
        </span>
      </button>
      {variant.check && variant.check.status !== "pass" && <FirstFindings variant={variant} />}
    </div>
  );
}

function FirstFindings({ variant }: { variant: VariantView }) {
  const { revision, error } = useRevision(variant);
  if (error) return <p className="text-bad text-sm">The findings could not be read: {error}</p>;
  if (!revision) return <p className="text-faint text-sm">Reading the findings</p>;
  const findings = groupFindings(revision.check?.findings ?? []);
  const more = findings.length - FINDINGS_MAX;
  return (
    <>
      <FindingList
        findings={findings.slice(0, FINDINGS_MAX)}
        label={`Findings of ${variant.key}`}
        hasAddresses={hasSeveralPages(revision.check)}
      />
      {more > 0 && <p className="text-faint text-xs">{countOf(more, "more finding")}</p>}
    </>
  );
}
