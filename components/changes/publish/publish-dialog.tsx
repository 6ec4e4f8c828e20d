"use client";

import { useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { VariantRevision, VariantView } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { cn } from "../../ui/cn.ts";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { PolicyAdvice } from "./policy-advice.tsx";
import { PublishNext } from "./publish-next.tsx";
import { PublishPart } from "./publish-part.tsx";
import { ReleaseList } from "./release-list.tsx";
import { ScriptTags } from "./script-tags.tsx";
import { type Publishing, usePublishing } from "./use-publishing.ts";

export type PublishProps = {
  variant: VariantView;
  /** The newest revision. While it is loading, or if it could not be read: an older revision, or undefined. */
  revision: VariantRevision | undefined;
  /** Opens the report of the check. */
  onShowCheck: () => void;
};

/**
 * Shows the content of the publish dialog: the newest revision, the script tags and the releases. For viewers, the
 * dialog has no controls that change the publication.
 */
export function PublishDialog({ variant, revision, onShowCheck }: PublishProps) {
  const isAllowed = mayDirect(useSession());
  const publishing = usePublishing(variant);
  const [seenRevision, setSeenRevision] = useState(variant.revision);
  const { publication } = variant;
  const newest = revision?.revision === variant.revision ? revision : undefined;
  const check = newest?.check ?? null;
  return (
    <div className="flex flex-col gap-5">
      <PublishPart title="Newest revision" isFirst>
        <PublishNext
          key={variant.revision}
          variant={variant}
          revision={newest}
          seenRevision={seenRevision}
          publishing={publishing}
          onSeen={() => setSeenRevision(variant.revision)}
          onShowCheck={onShowCheck}
        />
      </PublishPart>
      {publication && (
        <PublishPart title="Script tag">
          <ScriptTags publication={publication} revision={revision} />
        </PublishPart>
      )}
      {check && <PolicyAdvice check={check} />}
      <PublishPart title="Releases">
        <ReleaseList variant={variant} isAllowed={isAllowed} publishing={publishing} />
      </PublishPart>
      {publication && isAllowed && (
        <ConfirmButton
          label="Unpublish"
          question="Pages that load the current release show the original within a minute. Pages that load a single release do so within five minutes."
          confirm="Unpublish now"
          isBusy={publishing.isBusy}
          onConfirm={publishing.unpublish}
        />
      )}
      <Outcome note={publishing.note} />
    </div>
  );
}

/**
 * Shows the outcome of the last action and announces it to screen readers. It stays visible while the dialog is
 * scrolled.
 */
function Outcome({ note }: Pick<Publishing, "note">) {
  return (
    <div
      aria-live="polite"
      className={cn(
        "text-sm [overflow-wrap:anywhere]",
        note ? "sticky -bottom-4 -mx-4 -mb-4 rounded-b-xl border-t bg-raised px-4 py-2.5" : "-mt-5",
        note?.isError ? "text-bad" : "text-good",
      )}
    >
      {note?.text}
    </div>
  );
}
