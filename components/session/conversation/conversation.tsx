"use client";

import { ArrowDown } from "lucide-react";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { buildTimeline } from "#lib/page/state/timeline.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { lazily } from "../../ui/lazily.tsx";
import { ConversationItem } from "./conversation-item.tsx";
import { countNew } from "./count-new.ts";
import { EarlierMessages } from "./earlier-messages.tsx";
import { QueuedMessages } from "./queued-messages.tsx";
import { useFollowEnd } from "./use-follow-end.ts";

const ImportedConversations = lazily(
  async () => (await import("../imports/imported-conversations.tsx")).ImportedConversations,
);

/** A conversation with at most this many items rarely fills the screen. */
const ITEMS_WITHOUT_SCROLLING = 6;

/** Shows the session's messages, tool calls and results as they arrive. */
export function Conversation({ scroller }: { scroller: RefObject<HTMLDivElement | null> }) {
  const state = useSession();
  const items = useMemo(() => buildTimeline(state), [state]);
  const content = useRef<HTMLOListElement>(null);
  const { isFollowing, goToEnd } = useFollowEnd(scroller, content);
  const lastKey = items.at(-1)?.key;
  const [readKey, setReadKey] = useState(lastKey);
  useEffect(() => {
    if (isFollowing) setReadKey(lastKey);
  }, [isFollowing, lastKey]);
  const newCount = isFollowing ? 0 : countNew(items, readKey);
  // The server cannot set the scroll position. To avoid a jump, a long conversation is hidden until the browser has
  // scrolled to the end.
  const [isScrolled, setScrolled] = useState(items.length <= ITEMS_WITHOUT_SCROLLING);
  useEffect(() => setScrolled(true), []);

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
          className={cn("mx-auto flex max-w-[720px] flex-col px-4 pt-4 pb-6", !isScrolled && "invisible")}
        >
          {state.imports.length > 0 && <ImportedConversations />}
          <EarlierMessages scroller={scroller} />
          {items.map((item) => (
            <li
              key={item.key}
              data-item={item.type}
              tabIndex={-1}
              className="mt-1 scroll-my-4 rounded-md outline-offset-4 first:mt-0 data-[item=compaction]:mt-3 data-[item=deliverable]:mt-2 data-[item=missing-tools]:mt-3 data-[item=notice]:mt-3 data-[item=question]:mt-3 data-[item=text]:mt-3 data-[item=user]:mt-6 first:data-[item=user]:mt-0 [[data-item=text]+&[data-item=tools]]:mt-3"
            >
              <ConversationItem item={item} />
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
