import { Archive } from "lucide-react";
import type { CompactionView } from "#lib/page/state/view-types.ts";

/** In the conversation: where room was made in the agent's context. */
export function CompactionLine({ compaction }: { compaction: CompactionView }) {
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
  if (done.how === "offloaded")
    return `${count === 1 ? "1 older result" : `${count} older results`} set aside · ${sizes}`;
  return `${count === 1 ? "1 earlier message" : `${count} earlier messages`} summarized · ${sizes}`;
}

/** A count of tokens, coarsely: `940`, `12k`. */
const formatTokens = (tokens: number): string =>
  tokens < 1_000 ? `${tokens}` : `${Math.round(tokens / 1_000)}k`;
