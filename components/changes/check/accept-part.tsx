"use client";

import { useState } from "react";
import { hasSeveralPages } from "#lib/page/labels/describe-check.ts";
import { describeOutcomes, hasFailure } from "#lib/page/labels/describe-outcome.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { CheckReport, VariantRevision } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Reasons } from "./outcome-list.tsx";

/**
 * Lists the changes that the check could not examine and that are not accepted, with the reasons. Visitors with the role
 * `drive` can accept them. Renders nothing if there are none.
 */
export function AcceptPart({ revision, check }: { revision: VariantRevision; check: CheckReport }) {
  const { actions, store } = useRuntime();
  const isAllowed = mayDirect(useSession());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const open = describeOutcomes(revision).filter(
    ({ outcome, isAccepted }) => outcome === "not_examined" && !isAccepted,
  );
  if (open.length === 0) return null;

  async function accept(): Promise<void> {
    setBusy(true);
    setError(null);
    const changes = open.map(({ changeId }) => changeId);
    const acceptance = { revision: revision.revision, checkedAt: check.at, changes };
    const outcome = await actions.acceptChanges(revision.variant, acceptance);
    setBusy(false);
    if (outcome.isDone) store.mergeVariants([outcome.answer]);
    else setError(`Nothing was accepted: ${outcome.error}`);
  }
  const subject = countOf(open.length, "change");
  return (
    <section
      aria-label="Not examined changes"
      className="flex flex-col gap-2 rounded-lg border border-warn/30 bg-warn-soft px-3 py-2 text-sm"
    >
      <p>
        The check could not examine {subject}.{" "}
        {hasFailure(check.findings)
          ? "It passes once what failed is corrected and a person has accepted this."
          : "Nothing failed; the check passes once a person has accepted this."}
      </p>
      <ul className="flex flex-col gap-1.5">
        {open.map((outcome) => (
          <li key={outcome.changeId}>
            <p className="font-mono text-xs [overflow-wrap:anywhere]">{outcome.name}</p>
            <Reasons outcome={outcome} hasAddresses={hasSeveralPages(check)} />
          </li>
        ))}
      </ul>
      {isAllowed && (
        <Button className="self-start" disabled={isBusy} onClick={accept}>
          Accept {subject} without examination
        </Button>
      )}
      {error && (
        <p role="alert" className="text-bad">
          {error}
        </p>
      )}
    </section>
  );
}
