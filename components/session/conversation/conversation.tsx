"use client";

import { ArrowDown } from "lucide-react";
import { memo, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { buildTimeline, type TimelineItem } from "#lib/page/state/timeline.ts";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { useSession } from "../session-context.tsx";
import { CompactionLine } from "./compaction-line.tsx";
import { DeliverableLine } from "./deliverable-line.tsx";
import { EarlierMessages } from "./earlier-messages.tsx";
import { MissingToolsLine } from "./missing-tools-line.tsx";
import { QueuedMessages } from "./queued-messages.tsx";
import { Reasoning } from "./reasoning.tsx";
import { RunNotice } from "./run-notice.tsx";
import { ToolGroup } from "./tool-group.tsx";
import { useFollowEnd } from "./use-follow-end.ts";
import { UserMessage } from "./user-message.tsx";

/** So few items hardly ever fill a screen. */
const ITEMS_WITHOUT_SCROLLING = 6;

/** What was asked, said and done, as it happens. */
export function Conversation({ scroller }: { scroller: RefObject<HTMLDivElement | null> }) {
  const state = useSession();
  const items = useMemo(() => buildTimeline(state), [state]);
  const content = useRef<HTMLOListElement>(null);
  const { isFollowing, goToEnd } = useFollowEnd(scroller, content);
  const [seen, setSeen] = useState(items.length);
  useEffect(() => {
    if (isFollowing) setSeen(items.length);
  }, [isFollowing, items.length]);
  const newCount = items.length - seen;
  // The server cannot scroll: a long conversation is shown once it stands at its end, instead of jumping there.
  const [isPlaced, setPlaced] = useState(items.length <= ITEMS_WITHOUT_SCROLLING);
  useEffect(() => setPlaced(true), []);

  return (
    <div className="relative h-full">
      <section
        ref={scroller}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]"
      >
        <ol
          ref={content}
          className={cn("mx-auto flex max-w-[720px] flex-col px-4 pt-4 pb-6", !isPlaced && "invisible")}
        >
          <EarlierMessages scroller={scroller} />
          {items.map((item) => (
            <li
              key={item.key}
              data-item={item.type}
              tabIndex={-1}
              className="mt-1 scroll-my-4 rounded-md outline-offset-4 first:mt-0 data-[item=compaction]:mt-3 data-[item=deliverable]:mt-2 data-[item=missing-tools]:mt-3 data-[item=notice]:mt-3 data-[item=text]:mt-3 data-[item=user]:mt-6 first:data-[item=user]:mt-0 [[data-item=text]+&[data-item=tools]]:mt-3"
            >
              <Item item={item} />
            </li>
          ))}
          <QueuedMessages />
        </ol>
      </section>
      {!isFollowing && (
        <Button
          size="sm"
          onClick={goToEnd}
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full bg-raised shadow-(color:--shadow-color) shadow-lg"
        >
          <ArrowDown aria-hidden />
          {newCount > 0 ? `${newCount} new` : "To the end"}
        </Button>
      )}
    </div>
  );
}

const Item = memo(function Item({ item }: { item: TimelineItem }) {
  switch (item.type) {
    case "user":
      return (
        <UserMessage
          text={item.text}
          author={item.author}
          createdAt={item.createdAt}
          isSteer={item.isSteer}
        />
      );
    case "text":
      return <AgentText text={item.text} isStreaming={item.isStreaming} />;
    case "reasoning":
      return <Reasoning text={item.text} isStreaming={item.isStreaming} />;
    case "tools":
      return <ToolGroup toolName={item.toolName} calls={item.calls} />;
    case "deliverable":
      return <DeliverableLine runId={item.runId} />;
    case "compaction":
      return <CompactionLine compaction={item.compaction} />;
    case "missing-tools":
      return <MissingToolsLine missing={item.missing} />;
    case "notice":
      return <RunNotice run={item.run} retriedAs={item.retriedAs} />;
  }
}, isSameItem);

/** The timeline is built anew on every change; an item that says the same is not drawn again. */
function isSameItem(before: { item: TimelineItem }, after: { item: TimelineItem }): boolean {
  const [one, other] = [before.item, after.item];
  if (one.type === "tools" && other.type === "tools") {
    return (
      one.calls.length === other.calls.length &&
      one.calls.every(
        (call, index) => call.call === other.calls[index]?.call && call.input === other.calls[index]?.input,
      )
    );
  }
  if (one.type === "notice" && other.type === "notice")
    return one.run === other.run && one.retriedAs === other.retriedAs;
  if (one.type === "compaction" && other.type === "compaction") return one.compaction === other.compaction;
  if (one.type === "missing-tools" && other.type === "missing-tools") return one.missing === other.missing;
  if (one.type === "deliverable" && other.type === "deliverable") return one.runId === other.runId;
  if (one.type === "user" && other.type === "user")
    return one.text === other.text && one.isSteer === other.isSteer;
  return (
    "text" in one &&
    "text" in other &&
    one.type === other.type &&
    one.text === other.text &&
    "isStreaming" in one &&
    "isStreaming" in other &&
    one.isStreaming === other.isStreaming
  );
}

/** What the agent says, as it is written. */
function AgentText({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <article aria-label="Agent" aria-busy={isStreaming} className="text-base">
      <Markdown text={text} isStreaming={isStreaming} />
    </article>
  );
}
