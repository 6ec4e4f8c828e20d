"use client";

import { describeReleaseCheck } from "#lib/page/labels/describe-publication.ts";
import type { Release, VariantView } from "#lib/page/state/view-types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Age } from "../../ui/time.tsx";
import type { Publishing } from "./use-publishing.ts";
import { useReleases } from "./use-releases.ts";

/** Lists the releases of a variant, newest first. */
export function ReleaseList({
  variant,
  isAllowed,
  publishing,
}: {
  variant: VariantView;
  /** Whether this visitor may choose the current release. */
  isAllowed: boolean;
  publishing: Publishing;
}) {
  const { releases, error } = useReleases(variant);
  if (error) return <p className="text-bad text-sm">The releases could not be read: {error}</p>;
  if (!releases) return <p className="text-faint text-sm">Reading the releases</p>;
  if (releases.length === 0) return <p className="text-faint text-sm">No releases yet.</p>;
  return (
    <ul aria-label="Releases" className="max-h-64 divide-y overflow-auto">
      {releases.map((release) => (
        <ReleaseRow
          key={release.id}
          release={release}
          isCurrent={release.id === variant.publication?.release}
          {...(isAllowed && { publishing })}
        />
      ))}
    </ul>
  );
}

function ReleaseRow({
  release,
  isCurrent,
  publishing,
}: {
  release: Release;
  isCurrent: boolean;
  publishing?: Publishing;
}) {
  const { number, revision, author, createdAt, isUnpublished } = release;
  const { tone, title } = describeReleaseCheck(release);
  return (
    <li className="flex min-h-12 items-center gap-3 py-1.5 text-sm">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          Release {number}
          <Badge tone={tone}>{title}</Badge>
          {isCurrent && <Badge tone="busy">Current</Badge>}
          {isUnpublished && !isCurrent && <Badge>Unpublished</Badge>}
        </p>
        <p className="text-faint text-xs">
          Revision {revision}, by {author === "agent" ? "the agent" : "a person"}, <Age iso={createdAt} />
        </p>
      </div>
      {publishing && !isCurrent && (
        <Button
          size="sm"
          disabled={publishing.isBusy}
          aria-label={`Make current: release ${number}`}
          onClick={() => publishing.makeCurrent(number)}
        >
          Make current
        </Button>
      )}
    </li>
  );
}
