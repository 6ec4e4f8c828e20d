"use client";

import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { LinkLine, ShareLinkForm } from "./share-link-form.tsx";
import { ShareLinkList } from "./share-link-list.tsx";
import { useShareLinks } from "./use-share-links.ts";

/** Shows the dialog in which a visitor copies, creates and revokes the links of the session. */
export function ShareDialog({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Share"
      className="w-[min(560px,calc(100vw-32px))]"
    >
      <ShareLinks />
    </Dialog>
  );
}

function ShareLinks() {
  const { shareUrl, links, error, create, revoke, revokeAll } = useShareLinks();
  return (
    <div className="flex flex-col gap-5">
      {shareUrl !== undefined && (
        <LinkLine path={shareUrl} note="The session’s own link. It may drive and does not expire." />
      )}
      <ShareLinkForm create={create} />
      {error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
      <ShareLinkList links={links} revoke={revoke} />
      <RevokeAll revokeAll={revokeAll} />
    </div>
  );
}

/** Shows a button that revokes every link after a confirmation. The page itself continues with a new link. */
function RevokeAll({ revokeAll }: { revokeAll: () => Promise<void> }) {
  const [isConfirming, setConfirming] = useState(false);
  const [isRevoking, setRevoking] = useState(false);
  if (!isConfirming) {
    return (
      <Button className="self-start" onClick={() => setConfirming(true)}>
        Revoke all links
      </Button>
    );
  }
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-bad/30 bg-bad-soft px-3 py-2 text-sm">
      <p className="text-soft">
        This revokes every link, including the session’s own, and disconnects everyone else. This page stays
        open with a new link.
      </p>
      <div className="flex gap-2">
        <Button
          disabled={isRevoking}
          onClick={() => {
            setRevoking(true);
            void revokeAll().finally(() => {
              setRevoking(false);
              setConfirming(false);
            });
          }}
        >
          Revoke all links now
        </Button>
        <Button variant="ghost" disabled={isRevoking} onClick={() => setConfirming(false)}>
          Keep them
        </Button>
      </div>
    </div>
  );
}
