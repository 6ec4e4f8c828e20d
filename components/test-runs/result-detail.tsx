"use client";

import { useId } from "react";
import { TARGET_WORDS, TEST_WORDS } from "#lib/page/labels/describe-test-run.ts";
import type { TestResult } from "#lib/page/state/view-types.ts";
import { Badge } from "../ui/badge.tsx";
import { cn } from "../ui/cn.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Folded } from "./folded.tsx";
import { StepTree } from "./step-tree.tsx";
import { TestFiles } from "./test-files.tsx";

/**
 * Shows the result of a test on the control or on the variant: errors, pictures and files, steps, annotations and
 * output.
 */
export function ResultDetail({ result, isOneOfTwo }: { result: TestResult; isOneOfTwo: boolean }) {
  const { target, status, attempts, errors, steps, attachments, annotations, output } = result;
  const headingId = useId();
  const isBare =
    [errors, steps, attachments, annotations].every(({ length }) => length === 0) && output === "";
  return (
    <div
      {...(isOneOfTwo && { role: "group", "aria-labelledby": headingId })}
      className="flex min-w-0 flex-col gap-3"
    >
      {(isOneOfTwo || attempts > 1) && (
        <div className="flex flex-wrap items-center gap-2 text-sm">
          {isOneOfTwo && (
            <>
              <h5 id={headingId} className="font-medium">
                {TARGET_WORDS[target]}
              </h5>
              <Badge tone={TEST_WORDS[status].tone}>{TEST_WORDS[status].title}</Badge>
            </>
          )}
          {attempts > 1 && <span className="text-faint text-xs">{attempts} attempts</span>}
        </div>
      )}
      {annotations.length > 0 && <Annotations annotations={annotations} />}
      {errors.length > 0 && (
        <ul aria-label="Errors" className="flex flex-col gap-2">
          {errors.map((error, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: stored errors never move
            <li key={index}>
              <CodeBlock text={error} className={cn(status === "failed" && "border-bad/40")} />
            </li>
          ))}
        </ul>
      )}
      {attachments.length > 0 && <TestFiles attachments={attachments} />}
      {steps.length > 0 && (
        <Folded title={`Steps (${steps.length})`} isOpen={status === "failed"}>
          <StepTree steps={steps} />
        </Folded>
      )}
      {output !== "" && (
        <Folded title="Output">
          <CodeBlock text={output} />
        </Folded>
      )}
      {isBare && (
        <p className="text-faint text-sm">
          {status === "skipped" ? "The test did not run." : "Nothing else was recorded."}
        </p>
      )}
    </div>
  );
}

const Annotations = ({ annotations }: Pick<TestResult, "annotations">) => (
  <ul aria-label="Annotations" className="flex flex-col gap-1 text-sm">
    {annotations.map(({ type, description }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: stored annotations never move
      <li key={index} dir="auto" className="[overflow-wrap:anywhere]">
        <span className="text-faint">{type}</span>
        {description !== undefined && `: ${description}`}
      </li>
    ))}
  </ul>
);
