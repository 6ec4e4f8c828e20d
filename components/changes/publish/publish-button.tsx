"use client";

import { CloudUpload } from "lucide-react";
import { useState } from "react";
import { describePublication } from "#lib/page/labels/describe-publication.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { PublishDialog, type PublishProps } from "./publish-dialog.tsx";

const COLORS = {
  quiet: "text-faint",
  busy: "text-accent",
  attention: "text-warn",
  good: "text-good",
  bad: "text-bad",
} as const;

/** Shows which revision of a variant is published, and opens the publish dialog. */
export function PublishButton({ variant, revision, onShowCheck }: PublishProps) {
  const isDriver = mayDirect(useSession());
  const [isOpen, setOpen] = useState(false);
  const { tone, title } = describePublication(variant);
  return (
    <>
      <Button size="sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <CloudUpload aria-hidden className={cn(COLORS[tone])} />
        {variant.publication === null && isDriver ? "Publish" : title}
      </Button>
      <Dialog
        isOpen={isOpen}
        onOpenChange={setOpen}
        title={`Publication of ${variant.key}`}
        className="w-[min(640px,calc(100vw-32px))]"
      >
        <PublishDialog
          variant={variant}
          revision={revision}
          onShowCheck={() => {
            setOpen(false);
            onShowCheck();
          }}
        />
      </Dialog>
    </>
  );
}
