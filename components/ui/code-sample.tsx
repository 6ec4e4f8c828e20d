import { Code } from "./code.tsx";
import { CopyButton } from "./copy-button.tsx";

/** Shows code of a message, with its colors and a button that copies it. */
export function CodeSample({ text, language }: { text: string; language: string | undefined }) {
  return (
    <div className="group/code relative">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
      >
        <code>
          <Code text={text} language={language} />
        </code>
      </pre>
      <span className="absolute top-1 right-1 rounded-md bg-sunken opacity-0 focus-within:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={text} label="Copy code" />
      </span>
    </div>
  );
}
