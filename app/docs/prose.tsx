import type { ReactNode } from "react";

/** Renders the subset of Markdown that descriptions use: paragraphs, lists, code and bold text. */
export function Prose({ text }: { text: string }) {
  return (
    <div className="flex flex-col gap-2 text-soft">
      {text.split("\n\n").map((block) =>
        block.startsWith("- ") ? (
          <ul key={block} className="flex list-disc flex-col gap-1 pl-5">
            {block.split(/\n?^- /m).map((item) => item && <li key={item}>{renderWords(item)}</li>)}
          </ul>
        ) : (
          <p key={block}>{renderWords(block)}</p>
        ),
      )}
    </div>
  );
}

/** Renders one line of a description: code and bold text, but no paragraphs or lists. */
export const Words = ({ text }: { text: string }) => <>{renderWords(text)}</>;

function renderWords(text: string): ReactNode[] {
  let offset = 0;
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    const key = offset;
    offset += piece.length;
    if (piece.startsWith("`"))
      return (
        <code
          key={key}
          className="rounded-sm bg-sunken px-1 py-px font-mono text-ink text-xs [overflow-wrap:anywhere]"
        >
          {piece.slice(1, -1)}
        </code>
      );
    if (piece.startsWith("**"))
      return (
        <strong key={key} className="font-semibold text-ink">
          {piece.slice(2, -2)}
        </strong>
      );
    return piece;
  });
}
