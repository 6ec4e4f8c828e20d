"use client";

import { ExternalLink } from "lucide-react";
import { useId, useState } from "react";
import { describeFiles, describePage } from "#lib/page/labels/describe-page.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { LandingPage } from "#lib/page/state/view-types.ts";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { cn } from "../ui/cn.ts";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Age } from "../ui/time.tsx";
import { type PageChanges, usePageChanges } from "./use-page-changes.ts";
import { VersionList } from "./version-list.tsx";

/**
 * Lists the landing pages that the agent deployed. Each entry shows the address and the versions of a page. Visitors
 * with the role `drive` can publish another version or unpublish the page.
 */
export function PagesTab() {
  const { pages } = useSession();
  return (
    <ul aria-label="Pages" className="flex flex-col divide-y">
      {pages.map((page) => (
        <li key={page.slug} className="px-4 py-3">
          <PageEntry page={page} />
        </li>
      ))}
    </ul>
  );
}

function PageEntry({ page }: { page: LandingPage }) {
  const headingId = useId();
  const isDriver = mayDirect(useSession());
  const changes = usePageChanges(page);
  const [showsVersions, setShowsVersions] = useState(false);
  const { tone, title } = describePage(page);
  const isPublished = page.version !== null;
  return (
    <section aria-labelledby={headingId} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h2 id={headingId} className="min-w-0 font-medium font-mono text-sm [overflow-wrap:anywhere]">
          {page.slug}
        </h2>
        <Badge tone={tone}>{title}</Badge>
      </div>
      <Address page={page} />
      <Facts page={page} />
      <div className="flex flex-wrap items-start gap-2">
        <Button aria-expanded={showsVersions} onClick={() => setShowsVersions((isShown) => !isShown)}>
          {showsVersions ? "Hide versions" : "Show versions"}
        </Button>
        {isDriver && isPublished && (
          <ConfirmButton
            label="Unpublish"
            question="Visitors will see that the page was unpublished. You can publish a version again at any time."
            confirm="Unpublish now"
            isBusy={changes.isBusy}
            onConfirm={changes.unpublish}
          />
        )}
      </div>
      <Outcome note={changes.note} />
      {showsVersions && <VersionList page={page} {...(isDriver && { changes })} />}
    </section>
  );
}

/** Shows the address as a link, or as plain text while the page is unpublished. */
function Address({ page: { url, version } }: { page: LandingPage }) {
  return (
    <div className="flex min-w-0 items-center gap-1">
      {version === null ? (
        <span className="min-w-0 truncate text-faint text-sm" title={url}>
          {formatAddress(url)}
        </span>
      ) : (
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          title={url}
          className="inline-flex min-h-6 min-w-0 items-center gap-1 rounded-sm text-accent-strong text-sm hover:underline"
        >
          <span className="truncate">{formatAddress(url)}</span>
          <ExternalLink aria-hidden className="size-3.5 shrink-0" />
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      )}
      <CopyButton text={url} label="Copy address" variant="ghost" />
    </div>
  );
}

function Facts({ page: { version, files, bytes, note, updatedAt } }: { page: LandingPage }) {
  return (
    <div className="text-faint text-xs">
      {note && (
        <p dir="auto" className="text-soft text-sm [overflow-wrap:anywhere]">
          {note}
        </p>
      )}
      <p>
        {files !== null && bytes !== null && `${describeFiles({ files, bytes })}, `}
        {version === null && "Unpublished "}
        <Age iso={updatedAt} />
      </p>
    </div>
  );
}

/** Shows the outcome of the last action and announces it to screen readers. */
function Outcome({ note }: Pick<PageChanges, "note">) {
  return (
    <p
      aria-live="polite"
      className={cn(
        "text-sm [overflow-wrap:anywhere]",
        note?.isError ? "text-bad" : "text-good",
        !note && "-mt-2",
      )}
    >
      {note?.text}
    </p>
  );
}
