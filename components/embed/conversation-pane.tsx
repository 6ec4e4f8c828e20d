"use client";

import { useEffect, useRef } from "react";
import { Composer } from "../session/composer/composer.tsx";
import { Conversation } from "../session/conversation/conversation.tsx";

/** Shows the conversation and the message box. @param onHeight is called with the height that they need, in pixels. */
export function ConversationPane({ onHeight }: { onHeight: (height: number) => void }) {
  const pane = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const textarea = useRef<HTMLTextAreaElement>(null);
  const report = useRef(onHeight);
  useEffect(() => {
    report.current = onHeight;
  });
  useEffect(() => {
    const content = scroller.current?.firstElementChild;
    const composer = pane.current?.lastElementChild;
    if (!content || !composer) return;
    let last = 0;
    const observer = new ResizeObserver(() => {
      const height = Math.ceil(
        content.getBoundingClientRect().height + composer.getBoundingClientRect().height,
      );
      if (height === last) return;
      last = height;
      report.current(height);
    });
    observer.observe(content);
    observer.observe(composer);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={pane} className="flex min-h-0 flex-1 flex-col">
      <div className="min-h-0 flex-1">
        <Conversation scroller={scroller} />
      </div>
      <Composer textarea={textarea} />
    </div>
  );
}
