"use client";

import type { ReactNode } from "react";
import type { CheckedPage, CheckReport, VariantRevision } from "#lib/page/state/view-types.ts";
import { nameChange } from "#lib/page/words/describe-change.ts";
import {
  assignFindings,
  describePaint,
  formatLayoutShift,
  hasSeveralPages,
  VIEWPORT_NAMES,
} from "#lib/page/words/describe-check.ts";
import { formatAddress, formatDuration } from "#lib/page/words/format.ts";
import { Age } from "../../ui/time.tsx";
import { CheckButton } from "./check-button.tsx";
import { FindingList } from "./finding-list.tsx";

/** Shows the report of a check: the findings, the measurements for each page and width, and what was not examined. */
export function CheckView({ revision, check }: { revision: VariantRevision; check: CheckReport }) {
  return (
    <div className="flex flex-col gap-4 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="text-faint text-xs">
          Checked <Age iso={check.at} />, took {formatDuration(check.durationMs)}
        </p>
        <CheckButton variantKey={revision.variant} label="Check again" />
      </div>
      <Part title="Findings">
        {check.findings.length === 0 ? (
          <p className="text-soft">The check found nothing wrong.</p>
        ) : (
          <FindingGroups revision={revision} hasAddresses={hasSeveralPages(check)} />
        )}
      </Part>
      <Part title="Measurements">
        <ul className="flex flex-col divide-y">
          {check.pages.map((page) => (
            <Measurements key={`${page.url} ${page.viewport}`} page={page} />
          ))}
        </ul>
      </Part>
      {check.notes.length > 0 && (
        <Part title="Not examined">
          <ul className="flex list-disc flex-col gap-1 pl-4 text-soft">
            {check.notes.map((note) => (
              <li key={note} className="[overflow-wrap:anywhere]">
                {note}
              </li>
            ))}
          </ul>
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="pb-1 text-faint text-xs">{title}</h2>
      {children}
    </section>
  );
}

/** Shows the findings, grouped by change. Findings without a change come first. */
function FindingGroups({ revision, hasAddresses }: { revision: VariantRevision; hasAddresses: boolean }) {
  const { general, byChange } = assignFindings(revision);
  const changes = revision.document.pages.flatMap((page) => page.changes);
  return (
    <div className="flex flex-col gap-3">
      <FindingList findings={general} label="Findings about the page" hasAddresses={hasAddresses} />
      {changes.map((change) => {
        const findings = byChange.get(change.id) ?? [];
        if (findings.length === 0) return null;
        const name = nameChange(change);
        return (
          <div key={change.id}>
            <p className="font-mono text-faint text-xs [overflow-wrap:anywhere]">{name}</p>
            <FindingList findings={findings} label={`Findings: ${name}`} hasAddresses={hasAddresses} />
          </div>
        );
      })}
    </div>
  );
}

/**
 * Shows the measurements of a page at one width: how many changes were applied, when the last change was applied, and
 * the layout shift.
 */
function Measurements({ page }: { page: CheckedPage }) {
  const applied = page.changes.filter((change) => change.applied === "ok").length;
  return (
    <li className="grid gap-x-4 py-1.5 sm:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]">
      <p className="min-w-0 truncate" title={page.url}>
        {VIEWPORT_NAMES[page.viewport]}
        <span className="pl-2 text-faint text-xs">{formatAddress(page.url)}</span>
      </p>
      <dl className="flex flex-wrap gap-x-4 text-soft text-xs leading-5 tabular-nums">
        <Fact name="Applied">
          {applied} of {page.changes.length}, {describePaint(page.paintToAppliedMs)}
        </Fact>
        <Fact name="Layout shift">{formatLayoutShift(page.layoutShift)}</Fact>
      </dl>
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
