"use client";

import { ChevronRight } from "lucide-react";
import { describePage } from "#lib/page/labels/describe-page.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";

/** Lists the landing pages in the result of a session. */
export function PageResults() {
  const { pages } = useSession();
  const { open } = useDrawer();
  return (
    <ul aria-label="Landing pages" className="flex flex-col divide-y">
      {pages.map((page) => {
        const { tone, title } = describePage(page);
        return (
          <li key={page.slug} className="px-4 py-3">
            <button
              type="button"
              onClick={() => open("pages")}
              className="-mx-2 flex min-h-8 w-[calc(100%+1rem)] flex-wrap items-center gap-x-2 gap-y-1 rounded-md px-2 py-1 text-left text-sm hover:bg-hover"
            >
              <span className="min-w-0 truncate font-medium font-mono">{page.slug}</span>
              <Badge tone={tone}>{title}</Badge>
              <span className="ml-auto flex items-center gap-1 text-accent-strong text-xs">
                Show page <ChevronRight aria-hidden className="size-3.5" />
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
