"use client";

import { useState, useSyncExternalStore } from "react";
import { cn } from "../ui/cn.ts";
import { Segments } from "../ui/segments.tsx";
import { ConversationPane } from "./conversation-pane.tsx";
import { LivePane } from "./live-pane.tsx";

type Pane = "conversation" | "browser";

const PANES = [
  ["conversation", "Conversation"],
  ["browser", "Browser"],
] as const satisfies [Pane, string][];

/** Shows the conversation and the live browser side by side; in a narrow frame, one of them at a time. */
export function BothPanes({ onHeight }: { onHeight: (height: number) => void }) {
  const [pane, setPane] = useState<Pane>("conversation");
  const isWide = useSyncExternalStore(
    followWidth,
    () => matchMedia(WIDE).matches,
    () => false,
  );
  const hideUnless = (shown: Pane) => !isWide && pane !== shown && "hidden";
  return (
    <>
      {!isWide && (
        <div className="flex h-10 shrink-0 items-center border-b bg-surface px-2">
          <Segments label="What is shown" choices={PANES} chosen={pane} onChoose={setPane} />
        </div>
      )}
      <div className="flex min-h-0 flex-1">
        <div
          className={cn(
            "flex min-h-0 min-w-0 flex-col",
            isWide ? "w-[clamp(300px,36%,440px)] border-r" : "flex-1",
            hideUnless("conversation"),
          )}
        >
          <ConversationPane onHeight={onHeight} />
        </div>
        <div className={cn("flex min-h-0 min-w-0 flex-1 flex-col", hideUnless("browser"))}>
          <LivePane isShown={isWide || pane === "browser"} />
        </div>
      </div>
    </>
  );
}

/** Narrower than for the session page, because a frame is only a part of its page. */
const WIDE = "(min-width: 760px)";

function followWidth(listener: () => void): () => void {
  const media = matchMedia(WIDE);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
}
