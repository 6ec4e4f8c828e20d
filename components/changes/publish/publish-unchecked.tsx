"use client";

import type { ReactNode } from "react";
import type { VariantView } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import type { Publishing } from "./use-publishing.ts";

/**
 * Shows why a revision without a passed check should not be published yet, a control for the recommended step, and a
 * button that publishes the revision nevertheless.
 */
export function PublishUnchecked({
  variant: { revision, check },
  publishing,
  label,
  mark,
  recommended,
  children,
}: {
  variant: VariantView;
  publishing: Publishing;
  /** Label of the button that publishes the revision. */
  label: string;
  /** What the release stays marked as: `unchecked`. */
  mark: string;
  /** The control for the recommended step. */
  recommended: ReactNode;
  /** Why the revision should not be published yet. */
  children: ReactNode;
}) {
  const { hasBrowser } = useSession().session;
  return (
    <>
      <p className="text-soft text-sm">
        {children}
        {!hasBrowser && " This session has no browser for a check."}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {recommended}
        <ConfirmButton
          label={label}
          question={`Visitors get revision ${revision} as it is. Its release stays marked as ${mark}.`}
          confirm={`Publish revision ${revision} ${check === null ? "unchecked" : "anyway"}`}
          isBusy={publishing.isBusy}
          onConfirm={() => publishing.publish(revision, true)}
        />
      </div>
    </>
  );
}
