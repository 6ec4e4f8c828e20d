"use client";

import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { formatTestTime, TARGET_WORDS, TEST_WORDS } from "#lib/page/labels/describe-test-run.ts";
import type { TestGroup } from "#lib/page/state/group-test-results.ts";
import { Badge } from "../ui/badge.tsx";
import { cn } from "../ui/cn.ts";
import { ResultDetail } from "./result-detail.tsx";

/**
 * Shows one test, which has one result, or one result each for control and variant. Expands to the details of the
 * results.
 */
export function TestEntry({ test: { titles, line, results } }: { test: TestGroup }) {
  const [isOpen, setOpen] = useState(false);
  const panelId = useId();
  const groups = titles.slice(0, -1);
  return (
    <>
      <h4>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={panelId}
          onClick={() => setOpen((wasOpen) => !wasOpen)}
          className="flex min-h-10 w-full items-start gap-2 px-3 py-2 text-left text-sm outline-offset-[-2px] hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            className={cn("mt-0.5 size-4 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
          />
          <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
            <span dir="auto" className="min-w-0 flex-1 basis-48 [overflow-wrap:anywhere]">
              {groups.length > 0 && <span className="text-faint">{groups.join(" › ")} › </span>}
              {titles.at(-1)}
            </span>
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
              {results.map(({ target, status, durationMs }) => (
                <span key={target} className="flex items-center gap-1.5 text-faint text-xs">
                  {results.length > 1 && <span>{TARGET_WORDS[target]}</span>}
                  <Badge tone={TEST_WORDS[status].tone}>{TEST_WORDS[status].title}</Badge>
                  {durationMs > 0 && <span className="tabular-nums">{formatTestTime(durationMs)}</span>}
                </span>
              ))}
            </span>
          </span>
        </button>
      </h4>
      <div id={panelId} hidden={!isOpen} className="px-3 pt-1 pb-3">
        {isOpen && (
          <>
            <p className="mb-3 text-faint text-xs">Line {line} of the file</p>
            <div
              className={cn(
                "grid gap-x-4 gap-y-5",
                results.length > 1 && "grid-cols-[repeat(auto-fit,minmax(min(320px,100%),1fr))]",
              )}
            >
              {results.map((result) => (
                <ResultDetail key={result.target} result={result} isOneOfTwo={results.length > 1} />
              ))}
            </div>
          </>
        )}
      </div>
    </>
  );
}
