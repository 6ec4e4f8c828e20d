import { cn } from "../../ui/cn.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

/**
 * Shows the button that copies a message. Devices with a pointer show it while the message or the button has the pointer
 * or the focus. The parent is a `group/copy` with a position.
 */
export function MessageCopy({ text, className }: { text: string; className: string }) {
  return (
    <span
      className={cn(
        "absolute bg-canvas opacity-0 focus-within:opacity-100 group-hover/copy:opacity-100 pointer-coarse:opacity-100",
        className,
      )}
    >
      <CopyButton text={text} label="Copy message" />
    </span>
  );
}
