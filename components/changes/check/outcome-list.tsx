import { nameChange } from "#lib/page/labels/describe-change.ts";
import {
  type assignFindings,
  describePlace,
  type FindingView,
  hasSeveralPages,
} from "#lib/page/labels/describe-check.ts";
import { describeOutcomes, type OutcomeView } from "#lib/page/labels/describe-outcome.ts";
import type { CheckReport, VariantRevision } from "#lib/page/state/view-types.ts";
import { Badge } from "../../ui/badge.tsx";
import { FindingList } from "./finding-list.tsx";

/**
 * Lists the changes of a revision with what the check concluded about each: proved, failed or not examined, with the
 * reasons and findings.
 */
export function OutcomeList({
  revision,
  check,
  byChange,
}: {
  revision: VariantRevision;
  check: CheckReport;
  byChange: ReturnType<typeof assignFindings>["byChange"];
}) {
  const outcomes = new Map(describeOutcomes(revision).map((outcome) => [outcome.changeId, outcome]));
  const changes = revision.document.pages.flatMap((page) => page.changes);
  return (
    <ul className="flex flex-col divide-y">
      {changes.map((change) => {
        const outcome = outcomes.get(change.id);
        const findings = byChange.get(change.id) ?? [];
        if (!outcome && findings.length === 0) return null;
        return (
          <Row
            key={change.id}
            name={nameChange(change)}
            outcome={outcome}
            findings={findings}
            hasAddresses={hasSeveralPages(check)}
          />
        );
      })}
    </ul>
  );
}

function Row({
  name,
  outcome,
  findings,
  hasAddresses,
}: {
  name: string;
  /** Undefined in reports without outcomes, which earlier versions of the service stored. */
  outcome: OutcomeView | undefined;
  findings: FindingView[];
  hasAddresses: boolean;
}) {
  return (
    <li className="flex flex-col gap-1 py-1.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-mono text-soft text-xs [overflow-wrap:anywhere]">{name}</span>
        {outcome && <Badge tone={outcome.tone}>{outcome.title}</Badge>}
      </p>
      {outcome && <Reasons outcome={outcome} hasAddresses={hasAddresses} />}
      <FindingList
        findings={findings.filter(({ code }) => code !== "not_examined")}
        label={`Findings: ${name}`}
        hasAddresses={hasAddresses}
        hasPictures
      />
    </li>
  );
}

/** Lists why a change was not examined, and at which widths. */
export function Reasons({
  outcome: { name, reasons },
  hasAddresses,
}: {
  outcome: OutcomeView;
  hasAddresses: boolean;
}) {
  if (reasons.length === 0) return null;
  return (
    <ul aria-label={`Not examined: ${name}`} className="flex flex-col gap-1 text-sm">
      {reasons.map((reason) => (
        <li key={`${reason.url} ${reason.text}`} className="[overflow-wrap:anywhere]">
          {reason.text} <span className="text-faint text-xs">{describePlace(reason, hasAddresses)}</span>
        </li>
      ))}
    </ul>
  );
}
