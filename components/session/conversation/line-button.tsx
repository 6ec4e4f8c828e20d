import type { ReactNode } from "react";
import { cn } from "../../ui/cn.ts";

/** Shows one line of the conversation. A click expands or collapses the details of the line. */
export function LineButton({
  isOpen,
  onToggle,
  panelId,
  className,
  children,
}: {
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  /** Id of the panel that the button expands. */
  panelId?: string;
  className?: string | false;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={panelId}
      onClick={() => onToggle(!isOpen)}
      className={cn(
        "-mx-2 flex h-7 w-[calc(100%+16px)] items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover",
        className,
      )}
    >
      {children}
    </button>
  );
}
