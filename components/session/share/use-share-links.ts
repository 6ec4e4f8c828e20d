"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import type { ShareLinkDraft } from "#lib/page/actions/session-actions.ts";
import type { ShareLinkView } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";

/** Reads the session's share links when the dialog opens and after each change. */
export function useShareLinks() {
  const { actions, reconnect } = useRuntime();
  const [shareUrl, setShareUrl] = useState<string>();
  const [links, setLinks] = useState<ShareLinkView[]>();
  const [error, setError] = useState<string | null>(null);

  const latest = useRef(0);

  const read = useCallback(async () => {
    latest.current += 1;
    const own = latest.current;
    const outcome = await actions.readShareLinks();
    // A response that arrives after a later read has begun may be older than the last change.
    if (own !== latest.current) return;
    if (!outcome.isDone) return setError(outcome.error);
    setShareUrl(outcome.answer.shareUrl);
    setLinks(outcome.answer.data);
  }, [actions]);
  useEffect(() => void read(), [read]);

  return {
    /** Path of the session's own link; undefined until a read has succeeded. */
    shareUrl,
    links,
    error,
    /** @returns the path of the new link, or null if it was not created. */
    async create(link: ShareLinkDraft): Promise<string | null> {
      const outcome = await actions.createShareLink(link);
      setError(outcome.isDone ? null : outcome.error);
      if (!outcome.isDone) return null;
      await read();
      return outcome.answer.shareUrl;
    },
    async revoke(linkId: string): Promise<void> {
      const outcome = await actions.revokeShareLink(linkId);
      setError(outcome.isDone ? null : outcome.error);
      await read();
    },
    async revokeAll(): Promise<void> {
      const outcome = await actions.revokeAllShareLinks();
      setError(outcome.isDone ? null : outcome.error);
      if (!outcome.isDone) return;
      // The open connection uses the revoked link. A new connection uses the new link, because the response has set the
      // cookie of the new link.
      reconnect();
      await read();
    },
  };
}
