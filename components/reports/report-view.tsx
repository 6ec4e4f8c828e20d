"use client";

import { ChevronLeft } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { describeCheck } from "#lib/page/labels/describe-check.ts";
import { formatMoment, type Severity } from "#lib/page/labels/describe-report.ts";
import type { ReportPage } from "#lib/page/state/view-types.ts";
import { Badge } from "../ui/badge.tsx";
import { Mark } from "../ui/mark.tsx";
import { FindingArticle } from "./finding-article.tsx";
import { ReportActions } from "./report-actions.tsx";
import { ReportText } from "./report-text.tsx";
import { SeverityCounts } from "./severity-counts.tsx";
import { SeverityFilter } from "./severity-filter.tsx";

/**
 * Shows a QA report: what was tested, the verdict, and the findings, most severe first. If the person filters the
 * findings, the printed report contains only the shown findings.
 */
export function ReportView({ page }: { page: ReportPage }) {
  const { report, session, paths } = page;
  const { findings, counts } = report;
  const [only, setOnly] = useState<Severity | null>(null);
  const numbered = findings.map((finding, index) => ({ finding, number: index + 1 }));
  const shown = numbered.filter(({ finding }) => only === null || finding.severity === only);
  return (
    <div className="report min-h-dvh">
      <header className="flex h-12 items-center gap-3 border-b bg-surface pr-2 pl-4 print:hidden">
        <Link href="/" aria-label="All sessions" className="rounded-sm text-accent">
          <Mark />
        </Link>
        <Link
          href={session.path}
          className="flex min-w-0 items-center gap-1 rounded-sm text-soft text-sm hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4 shrink-0" />
          <span className="sr-only">Back to </span>
          <span dir="auto" className="truncate">
            {session.title}
          </span>
        </Link>
        <span className="flex-1" />
        <ReportActions page={page} />
      </header>
      <main className="mx-auto flex max-w-[880px] flex-col gap-6 px-4 py-6 lg:py-8 print:max-w-none print:p-0">
        <section aria-labelledby="report-title" className="flex flex-col gap-3">
          <h1 id="report-title" dir="auto" className="font-semibold text-xl [overflow-wrap:anywhere]">
            {report.title}
          </h1>
          <ReportFacts page={page} />
          <p className="flex flex-wrap gap-1">
            <SeverityCounts counts={counts} />
          </p>
          {report.newest.id !== report.id && (
            <p role="note" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
              This is an earlier version.{" "}
              <Link href={report.newest.url} prefetch={false} className="underline underline-offset-2">
                Open version {report.newest.version}
              </Link>
            </p>
          )}
          {report.summary.trim() !== "" && <ReportText text={report.summary} />}
        </section>
        {findings.length > 0 && (
          <section aria-labelledby="findings-title" className="flex flex-col gap-4">
            <div className="flex flex-wrap items-center justify-between gap-2">
              <h2 id="findings-title" className="font-semibold text-lg">
                Findings
              </h2>
              <SeverityFilter counts={counts} only={only} onChange={setOnly} />
            </div>
            <p role="status" className={only === null ? "sr-only" : "text-faint text-sm"}>
              {only !== null && `${shown.length} of ${findings.length} findings are shown.`}
            </p>
            {shown.map(({ finding, number }) => (
              <FindingArticle key={number} number={number} finding={finding} artifacts={paths.artifacts} />
            ))}
          </section>
        )}
      </main>
    </div>
  );
}

/** Shows when the report was published, and which revisions the session's variants had at that time. */
function ReportFacts({ page: { report, session } }: { page: ReportPage }) {
  return (
    <dl className="grid grid-cols-[64px_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm [&>dt]:text-faint">
      <dt>Published</dt>
      <dd>
        <time dateTime={report.createdAt} className="tabular-nums">
          {formatMoment(report.createdAt)}
        </time>
        {`, version ${report.version}`}
      </dd>
      <dt>Session</dt>
      <dd dir="auto" className="[overflow-wrap:anywhere]">
        {session.title}
      </dd>
      {report.tested.length > 0 && (
        <>
          <dt>Tested</dt>
          <dd className="flex flex-col gap-1">
            {report.tested.map(({ variant, revision, check }) => (
              <span key={variant} className="flex flex-wrap items-center gap-2">
                <span>
                  Variant <code className="font-mono">{variant}</code>, revision {revision}
                </span>
                <Badge tone={describeCheck(check).tone}>{describeCheck(check).title}</Badge>
              </span>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}
