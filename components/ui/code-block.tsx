import { cn } from "./cn.ts";
import { Code } from "./code.tsx";

/** Shows preformatted text in a fixed-width font; long lines wrap. */
export function CodeBlock({
  text,
  language,
  className,
}: {
  text: string;
  /** The language for its colors, such as `json`; without it, the text has none. */
  language?: string;
  className?: string;
}) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className={cn(
        "max-h-80 overflow-auto whitespace-pre-wrap break-words rounded-md border bg-sunken px-3 py-2 font-mono text-soft text-xs leading-[18px]",
        className,
      )}
    >
      <Code text={text} language={language} />
    </pre>
  );
}
