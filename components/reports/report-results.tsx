"use client";

import { ChevronRight } from "lucide-react";
import Link from "next/link";
import { useSession } from "../runtime/session-context.tsx";
import { Age } from "../ui/time.tsx";
import { SeverityCounts } from "./severity-counts.tsx";

/** Lists links to the reports of a session, newest first. */
export function ReportResults() {
  const { reports } = useSession();
  return (
    <ul aria-label="Reports" className="flex flex-col divide-y">
      {reports.map(({ id, title, version, url, counts, createdAt }) => (
        <li key={id} className="px-4 py-3">
          <Link
            href={url}
            prefetch={false}
            className="-mx-2 flex min-h-8 flex-wrap items-center gap-x-2 gap-y-1 rounded-md px-2 py-1 text-sm hover:bg-hover"
          >
            <span dir="auto" className="min-w-0 font-medium [overflow-wrap:anywhere]">
              {title}
            </span>
            <SeverityCounts counts={counts} />
            <span className="text-faint text-xs">
              {version > 1 && `version ${version}, `}
              <Age iso={createdAt} />
            </span>
            <span className="ml-auto flex items-center gap-1 text-accent-strong text-xs">
              Open the report <ChevronRight aria-hidden className="size-3.5" />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
