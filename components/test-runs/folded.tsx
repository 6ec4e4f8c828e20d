import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** Shows a section that the reader can open. */
export function Folded({
  title,
  isOpen = false,
  children,
}: {
  title: string;
  /** Whether the section is open at first. */
  isOpen?: boolean;
  children: ReactNode;
}) {
  return (
    <details open={isOpen} className="text-sm">
      <summary className="-ml-0.5 flex min-h-7 w-fit cursor-pointer list-none items-center gap-1 rounded-sm pr-1 text-soft hover:text-ink max-lg:min-h-9 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 shrink-0 text-faint [[open]>summary>&]:rotate-90" />
        {title}
      </summary>
      <div className="mt-1">{children}</div>
    </details>
  );
}
