import { ChevronRight } from "lucide-react";
import { formatTestTime } from "#lib/page/labels/describe-test-run.ts";
import type { TestStep } from "#lib/page/state/view-types.ts";
import { cn } from "../ui/cn.ts";

/**
 * Shows the steps of a test with their durations. A step that has nested steps can be folded. Such a step is open at
 * first if it failed.
 */
export function StepTree({ steps, isInner = false }: { steps: TestStep[]; isInner?: boolean }) {
  return (
    <ol
      {...(!isInner && { "aria-label": "Steps" })}
      className={cn("flex flex-col text-sm", isInner && "ml-[7px] border-l pl-3")}
    >
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stored steps never move
        <li key={index}>
          {step.steps && step.steps.length > 0 ? (
            <details open={step.error !== undefined} className="group">
              <summary className="flex cursor-pointer list-none items-start gap-1 rounded-sm hover:bg-hover [&::-webkit-details-marker]:hidden">
                <ChevronRight
                  aria-hidden
                  className="mt-1.5 size-3.5 shrink-0 text-faint [[open]>summary>&]:rotate-90"
                />
                <StepLine step={step} />
              </summary>
              <StepTree steps={step.steps} isInner />
            </details>
          ) : (
            <div className="flex items-start gap-1 pl-[18px]">
              <StepLine step={step} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

const StepLine = ({ step: { title, durationMs, error } }: { step: TestStep }) => (
  <span className="flex min-w-0 flex-1 items-baseline gap-3 py-0.5">
    <span
      className={cn(
        "min-w-0 flex-1 [overflow-wrap:anywhere]",
        error !== undefined ? "text-bad" : "text-soft",
      )}
    >
      {title}
      {error !== undefined && <span className="sr-only"> (failed)</span>}
    </span>
    <span className="shrink-0 text-faint text-xs tabular-nums">{formatTestTime(durationMs)}</span>
  </span>
);
