"use client";

import { useEffect, useState } from "react";
import { describeFiles } from "#lib/page/labels/describe-page.ts";
import type { LandingPage, LandingPageVersion } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Age } from "../ui/time.tsx";
import type { PageChanges } from "./use-page-changes.ts";

/** Lists the versions of a landing page, newest first. Without `changes`, the list has no controls. */
export function VersionList({ page, changes }: { page: LandingPage; changes?: PageChanges }) {
  const { versions, error } = useVersions(page);
  if (error) return <p className="text-bad text-sm">The versions could not be read: {error}</p>;
  if (!versions) return <p className="text-faint text-sm">Reading the versions</p>;
  return (
    <ul aria-label={`Versions of ${page.slug}`} className="divide-y rounded-md border px-3">
      {versions.map((version) => (
        <VersionRow
          key={version.number}
          version={version}
          isCurrent={version.number === page.version}
          {...(changes && { changes })}
        />
      ))}
    </ul>
  );
}

function VersionRow({
  version: { number, files, bytes, note, createdAt },
  isCurrent,
  changes,
}: {
  version: LandingPageVersion;
  isCurrent: boolean;
  changes?: PageChanges;
}) {
  return (
    <li className="flex min-h-12 items-center gap-3 py-1.5 text-sm">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          Version {number}
          {isCurrent && <Badge tone="busy">Current</Badge>}
        </p>
        {note && (
          <p dir="auto" className="text-soft text-xs [overflow-wrap:anywhere]">
            {note}
          </p>
        )}
        <p className="text-faint text-xs">
          {describeFiles({ files, bytes })}, <Age iso={createdAt} />
        </p>
      </div>
      {changes && !isCurrent && (
        <Button
          size="sm"
          disabled={changes.isBusy}
          aria-label={`Publish version ${number}`}
          onClick={() => changes.publishVersion(number)}
        >
          Publish
        </Button>
      )}
    </li>
  );
}

/** Reads the versions of a landing page, and reads them again after each change of the page. */
function useVersions({ slug, updatedAt }: LandingPage): {
  /** The versions that were read last, newest first; undefined until a read has succeeded. */
  versions: LandingPageVersion[] | undefined;
  error: string | null;
} {
  const { actions } = useRuntime();
  const [versions, setVersions] = useState<LandingPageVersion[]>();
  const [error, setError] = useState<string | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a later time means that the list may have changed
  useEffect(() => {
    let isCurrent = true;
    void actions.readPageVersions(slug).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.isDone) setVersions(outcome.answer);
      setError(outcome.isDone ? null : outcome.error);
    });
    return () => {
      isCurrent = false;
    };
  }, [actions, slug, updatedAt]);
  return { versions, error };
}
