import { Markdown } from "#components/ui/markdown.tsx";

/** What the agent says, as it is written. */
export function AgentText({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <article aria-label="Agent" aria-busy={isStreaming} className="text-base">
      <Markdown text={text} isStreaming={isStreaming} />
    </article>
  );
}
