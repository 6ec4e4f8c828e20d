import { ChevronRight } from "lucide-react";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";

/**
 * Shows an example with a title and a copy button. With `isFolded`, the text is hidden until the reader opens the
 * example.
 */
export const Example = ({
  title,
  text,
  isFolded = false,
}: {
  title: string;
  text: string;
  isFolded?: boolean;
}) => (
  <div className="relative min-w-0">
    <details open={!isFolded} className="group">
      <summary className="flex h-8 items-center gap-1 pr-8 text-faint text-xs">
        <ChevronRight aria-hidden className="size-3 group-open:rotate-90" />
        {title}
      </summary>
      <CodeBlock text={text} className="max-h-[480px]" />
    </details>
    <div className="absolute top-0.5 right-0">
      <CopyButton text={text} label={`Copy: ${title}`} />
    </div>
  </div>
);
