"use client";

import { Braces } from "lucide-react";
import { Badge } from "../../ui/badge.tsx";
import { useDrawer } from "../drawer/drawer-context.tsx";
import { useSession } from "../session-context.tsx";

/** In the conversation: the structured result of a turn, and the way to it. */
export function DeliverableLine({ runId }: { runId: string | null }) {
  const { deliverables } = useSession();
  const { open } = useDrawer();
  const deliverable = deliverables.find((each) => each.runId === runId);
  const isReady = deliverable?.status !== "failed";
  return (
    <button
      type="button"
      onClick={() => open("result", runId)}
      className="flex h-9 w-full items-center gap-2 rounded-lg border bg-surface px-3 text-left text-sm hover:border-line-strong"
    >
      <Braces aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="flex-1 truncate">Structured result</span>
      <Badge tone={isReady ? "good" : "bad"}>{isReady ? "Ready" : "Failed"}</Badge>
    </button>
  );
}
