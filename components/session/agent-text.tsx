import { cn } from "#components/ui/cn.ts";
import { Markdown } from "#components/ui/markdown.tsx";

/** What the agent says, as it is written. */
export function AgentText({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <article
      aria-label="Agent"
      aria-busy={isStreaming}
      className={cn("text-base", isStreaming && "is-streaming")}
    >
      <Markdown text={text} isStreaming={isStreaming} />
    </article>
  );
}
