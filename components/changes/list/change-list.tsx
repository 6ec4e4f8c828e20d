"use client";

import { ChevronRight } from "lucide-react";
import { memo, type ReactNode, useMemo } from "react";
import { describeEntry } from "#lib/page/labels/describe-change.ts";
import { assignFindings, hasSeveralPages } from "#lib/page/labels/describe-check.ts";
import { describeProof, type Proof } from "#lib/page/labels/describe-proof.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { VariantPage, VariantRevision } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { FindingList } from "../check/finding-list.tsx";
import { ChangeRow } from "./change-row.tsx";
import type { VariantEditing } from "./use-edit-variant.ts";

type Props = { revision: VariantRevision; editing: VariantEditing };

/**
 * Shows the changes of a revision, grouped by page. Findings that concern no single change come first. The list and its
 * rows are memoized, because there may be hundreds of rows and the session's state changes with every streamed word.
 */
export const ChangeList = memo(function ChangeList({ revision, editing }: Props) {
  const { check, document } = revision;
  const { general, byChange } = useMemo(() => assignFindings(revision), [revision]);
  const proofs = useMemo(() => describeProofs(revision), [revision]);
  const { failure } = editing;
  const isEmpty = document.pages.every(({ changes, css, js }) => changes.length === 0 && !css && !js);
  return (
    <div className="flex flex-col">
      {failure && !byChange.has(failure.changeId) && (
        <p role="alert" className="px-4 pt-2 text-bad text-sm">
          {failure.error}
        </p>
      )}
      {general.length > 0 && (
        <div className="px-4 pt-3">
          <FindingList
            findings={general}
            label="Findings of the check"
            hasAddresses={hasSeveralPages(check)}
          />
        </div>
      )}
      {document.pages.map((page, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two entries may have the same address and match
        <PageGroup key={index} page={page}>
          {page.changes.map((change) => (
            <ChangeRow
              key={change.id}
              change={change}
              proof={proofs.get(change.id)}
              findings={byChange.get(change.id)}
              hasAddresses={hasSeveralPages(check)}
              isAllowed={editing.isAllowed}
              saving={editing.saving.findLast(({ changeId }) => changeId === change.id) ?? null}
              error={failure?.changeId === change.id ? failure.error : null}
              save={editing.save}
            />
          ))}
        </PageGroup>
      ))}
      {isEmpty && <p className="px-4 py-3 text-faint text-sm">This revision changes nothing.</p>}
    </div>
  );
});

/** Returns the test results of all changes that the check covered, by the id of the change. */
function describeProofs({ check, document }: VariantRevision): Map<string, Proof> {
  const ids = document.pages.flatMap(({ changes }) => changes.map(({ id }) => id));
  const proofs = ids.map((id) => [id, check ? describeProof(check.pages, id) : undefined] as const);
  return new Map(proofs.flatMap(([id, proof]) => (proof ? [[id, proof]] : [])));
}

/** Shows one page of the variant: the address, the changes, the style sheet and the script. */
function PageGroup({ page, children }: { page: VariantPage; children: ReactNode }) {
  const address = formatAddress(page.url);
  return (
    <section aria-label={`Changes of ${address}`} className="pt-2">
      <h2 className="flex flex-wrap items-baseline gap-x-2 px-4 py-1 text-xs">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{address}</span>
        <span className="min-w-0 text-faint [overflow-wrap:anywhere]">{describeEntry(page)}</span>
      </h2>
      <ul className="divide-y">{children}</ul>
      <PageCode name="Style sheet" code={page.css} />
      <PageCode name="Script" code={page.js} />
    </section>
  );
}

/** Shows the style sheet or script of a page as text. */
function PageCode({ name, code }: { name: string; code: string }) {
  if (code.trim() === "") return null;
  const lines = code.trimEnd().split("\n").length;
  return (
    <details className="group px-4 py-1">
      <summary className="flex w-fit list-none items-center gap-1 rounded-sm text-sm hover:text-ink">
        <ChevronRight aria-hidden className="size-3.5 text-faint transition-transform group-open:rotate-90" />
        {name}
        <span className="text-faint text-xs">{countOf(lines, "line")}</span>
      </summary>
      <CodeBlock text={code} className="mt-1" />
    </details>
  );
}
