"use client";

import { Archive, Braces, Unplug } from "lucide-react";
import { memo } from "react";
import { describeMissingTools } from "#lib/page/labels/describe-missing-tools.ts";
import type { TimelineItem } from "#lib/page/state/timeline.ts";
import type { CompactionView, MissingToolsView } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useDrawer } from "../../runtime/drawer-context.tsx";
import { useSession } from "../../runtime/session-context.tsx";
import { Badge } from "../../ui/badge.tsx";
import { lazily } from "../../ui/lazily.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { MessageCopy } from "./message-copy.tsx";
import { Reasoning } from "./reasoning.tsx";
import { ToolGroup } from "./tool-group.tsx";
import { UserMessage } from "./user-message.tsx";

const QuestionItem = lazily(
  async () => (await import("./question-item.tsx")).QuestionItem,
  <div className="min-h-16" />,
);

const RunNotice = lazily(
  async () => (await import("./run-notice.tsx")).RunNotice,
  <div className="min-h-8" />,
);

/** Shows one item of the conversation. Renders again only when the content of the item changes. */
export const ConversationItem = memo(function ConversationItem({ item }: { item: TimelineItem }) {
  switch (item.type) {
    case "user":
      return (
        <UserMessage
          text={item.text}
          attachments={item.attachments}
          annotationCount={item.annotationCount}
          annotationPictures={item.annotationPictures}
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
    case "question":
      return <QuestionItem question={item.question} />;
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

/** Compares two items by their content, because every change of the session creates new objects for all items. */
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
  if (one.type === "question" && other.type === "question") return one.question === other.question;
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

/** Shows text of the agent, also while the text is streaming. */
function AgentText({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <article aria-label="Agent" aria-busy={isStreaming} className="group/copy relative text-base">
      <Markdown text={text} isStreaming={isStreaming} />
      {!isStreaming && <MessageCopy text={text} className="-bottom-5 left-0" />}
    </article>
  );
}

/** Shows a line for the structured result of a turn. A click opens the result in the drawer. */
function DeliverableLine({ runId }: { runId: string | null }) {
  const { deliverables, runs } = useSession();
  const { open } = useDrawer();
  const deliverable = deliverables.find((each) => each.runId === runId);
  const isReady = deliverable?.status !== "failed";
  const isStopped = runs.some((run) => run.runId === runId && run.state === "cancelled");
  return (
    <button
      type="button"
      onClick={() => open("result", { resultRunId: runId })}
      className="flex h-9 w-full items-center gap-2 rounded-lg border bg-surface px-3 text-left text-sm hover:border-line-strong"
    >
      <Braces aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="flex-1 truncate">Structured result</span>
      <Badge tone={isReady ? "good" : isStopped ? "quiet" : "bad"}>
        {isReady ? "Ready" : isStopped ? "None: stopped" : "Failed"}
      </Badge>
    </button>
  );
}

/** Marks the place where the service shortened the agent's context. */
function CompactionLine({ compaction }: { compaction: CompactionView }) {
  return (
    <p className="flex items-center gap-2 text-faint text-sm">
      <Archive aria-hidden className="size-4 shrink-0" />
      <span>{describeCompaction(compaction)}</span>
    </p>
  );
}

function describeCompaction({ done }: CompactionView): string {
  if (done === null) return "Making room in the context";
  const count = done.messagesReplaced;
  const sizes = `${formatTokens(done.tokensBefore)} → ${formatTokens(done.tokensAfter)} tokens`;
  if (done.how === "offloaded") return `${countOf(count, "older result")} set aside · ${sizes}`;
  return `${countOf(count, "earlier message")} summarized · ${sizes}`;
}

/** Formats a count of tokens, rounded to thousands from 1,000 on: `940`, `12k`. */
const formatTokens = (tokens: number): string =>
  tokens < 1_000 ? `${tokens}` : `${Math.round(tokens / 1_000)}k`;

/** Shows that all or some tools of a tool server are not available in this turn. */
function MissingToolsLine({ missing }: { missing: MissingToolsView }) {
  return (
    <p className="flex items-start gap-2 text-faint text-sm">
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 break-words">{describeMissingTools(missing)}</span>
    </p>
  );
}
