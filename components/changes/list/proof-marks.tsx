"use client";

import { Check, Minus, X } from "lucide-react";
import type { Proof, ProofMark } from "#lib/page/labels/describe-proof.ts";
import { cn } from "../../ui/cn.ts";
import { Tooltip } from "../../ui/tooltip.tsx";

const MARKS = {
  ok: { Icon: Check, color: "text-good" },
  failed: { Icon: X, color: "text-bad" },
  not_applicable: { Icon: Minus, color: "text-faint" },
} as const;

/**
 * Shows an icon for each of the five tests of a change. A tooltip shows the results as sentences, and screen readers
 * read the sentences.
 */
export function ProofMarks({ proof: { marks } }: { proof: Proof }) {
  const sentences = marks.map(({ sentence }) => sentence);
  return (
    <Tooltip
      label={
        <span className="flex flex-col gap-1 py-0.5">
          {marks.map((mark) => (
            <span key={mark.step} className="flex items-start gap-1.5">
              <MarkIcon mark={mark} />
              {mark.sentence}
            </span>
          ))}
        </span>
      }
    >
      <button
        type="button"
        aria-label={`Check: ${sentences.join(" ")}`}
        className="flex h-5 shrink-0 cursor-default items-center gap-0.5 rounded-sm px-0.5 hover:bg-hover"
      >
        {marks.map((mark) => (
          <MarkIcon key={mark.step} mark={mark} />
        ))}
      </button>
    </Tooltip>
  );
}

function MarkIcon({ mark }: { mark: ProofMark }) {
  const { Icon, color } = MARKS[mark.outcome];
  return <Icon aria-hidden className={cn("mt-px size-3.5 shrink-0", color)} />;
}
