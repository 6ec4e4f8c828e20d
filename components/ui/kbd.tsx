import type { ReactNode } from "react";

/** Shows a keyboard key. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex pointer-coarse:hidden h-[18px] min-w-[18px] items-center justify-center rounded-sm border border-line-strong bg-surface px-1 font-sans text-2xs text-soft leading-none">
      {children}
    </kbd>
  );
}
