"use client";

import { useState } from "react";
import { formatUntil } from "#lib/page/labels/format.ts";
import type { ShareLinkView, ShareRole } from "#lib/page/state/view-types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { useNow } from "../../ui/use-now.ts";

/** The name of each role, and what its links allow. */
export const ROLES: Record<ShareRole, { name: string; does: string }> = {
  view: { name: "Watches", does: "Watch" },
  comment: { name: "Comments", does: "Watch and annotate" },
  drive: { name: "Drives", does: "Drive: message and control" },
};

/** Lists the valid links, newest first. */
export function ShareLinkList({
  links,
  revoke,
}: {
  links: ShareLinkView[] | undefined;
  revoke: (linkId: string) => Promise<void>;
}) {
  const now = useNow(30_000);
  const valid = links?.filter(
    ({ revokedAt, expiresAt }) =>
      revokedAt === null && (expiresAt === null || now === null || Date.parse(expiresAt) > now),
  );
  return (
    <section aria-labelledby="share-links" className="flex flex-col gap-1 border-t pt-4">
      <h3 id="share-links" className="font-medium text-sm">
        Links
      </h3>
      {valid?.length === 0 && <p className="text-faint text-sm">No other links yet.</p>}
      {valid && valid.length > 0 && (
        <ul className="divide-y">
          {valid.map((link) => (
            <li key={link.id}>
              <LinkRow link={link} now={now} revoke={revoke} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function LinkRow({
  link,
  now,
  revoke,
}: {
  link: ShareLinkView;
  now: number | null;
  revoke: (linkId: string) => Promise<void>;
}) {
  const [isRevoking, setRevoking] = useState(false);
  const name = link.label ?? "No label";
  return (
    <div className="flex min-h-10 items-center gap-3 text-sm">
      <span dir="auto" className="min-w-0 flex-1 truncate" title={name}>
        {name}
      </span>
      <Badge>{ROLES[link.role].name}</Badge>
      <span className="shrink-0 text-faint text-xs tabular-nums">
        {link.expiresAt === null ? "does not expire" : now !== null && formatUntil(link.expiresAt, now)}
      </span>
      <Button
        size="sm"
        disabled={isRevoking}
        aria-label={`Revoke: ${name}`}
        onClick={() => {
          setRevoking(true);
          void revoke(link.id).finally(() => setRevoking(false));
        }}
      >
        Revoke
      </Button>
    </div>
  );
}
