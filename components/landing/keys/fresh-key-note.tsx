"use client";

import { useEffect, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import type { FreshKey } from "#lib/page/actions/key-actions.ts";

/** Shows the text of a new key, which the service stores nowhere, and focuses it. */
export function FreshKeyNote({ fresh, onClose }: { fresh: FreshKey; onClose: () => void }) {
  const note = useRef<HTMLElement>(null);
  useEffect(() => note.current?.focus(), []);
  return (
    <section
      ref={note}
      tabIndex={-1}
      aria-label="New API key"
      className="flex flex-col gap-2 rounded-lg bg-good-soft px-3 py-2 text-sm outline-none"
    >
      <p>
        <span className="font-medium">Copy the key “{fresh.record.name}” now.</span> It is shown only once;
        the service stores only a hash of it.
      </p>
      <p className="flex items-center gap-2 rounded-md border bg-surface py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 select-all font-mono text-xs [overflow-wrap:anywhere]">
          {fresh.key}
        </code>
        <CopyButton text={fresh.key} label="Copy the key" />
      </p>
      <Button size="sm" className="self-start" onClick={onClose}>
        I have stored it
      </Button>
    </section>
  );
}
