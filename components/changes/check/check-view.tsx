"use client";

import type { ReactNode } from "react";
import {
  assignFindings,
  describePaint,
  formatLayoutShift,
  hasSeveralPages,
  VIEWPORT_NAMES,
} from "#lib/page/labels/describe-check.ts";
import { formatAddress, formatDuration } from "#lib/page/labels/format.ts";
import type { CheckedPage, CheckReport, VariantRevision } from "#lib/page/state/view-types.ts";
import { Age } from "../../ui/time.tsx";
import { AcceptPart } from "./accept-part.tsx";
import { CheckButton } from "./check-button.tsx";
import { FindingList } from "./finding-list.tsx";
import { OutcomeList } from "./outcome-list.tsx";

/**
 * Shows the report of a check: what was not examined and can be accepted, the findings, the outcome of each change, the
 * measurements for each page and width, and notes.
 */
export function CheckView({ revision, check }: { revision: VariantRevision; check: CheckReport }) {
  const { general, byChange } = assignFindings(revision);
  return (
    <div className="flex flex-col gap-4 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="text-faint text-xs">
          Checked <Age iso={check.at} />, took {formatDuration(check.durationMs)}
        </p>
        <CheckButton variantKey={revision.variant} label="Check again" />
      </div>
      <AcceptPart revision={revision} check={check} />
      {check.findings.length === 0 && <p className="text-soft">The check found nothing wrong.</p>}
      {general.length > 0 && (
        <Part title="Findings">
          <FindingList
            findings={general}
            label="Findings about the page"
            hasAddresses={hasSeveralPages(check)}
            hasPictures
          />
        </Part>
      )}
      {check.pages.length > 0 && (
        <>
          <Part title="Changes">
            <OutcomeList revision={revision} check={check} byChange={byChange} />
          </Part>
          <Part title="Measurements">
            <ul className="flex flex-col divide-y">
              {check.pages.map((page) => (
                <Measurements key={`${page.url} ${page.viewport}`} page={page} />
              ))}
            </ul>
          </Part>
        </>
      )}
      {check.notes.length > 0 && (
        <Part title="Notes">
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
