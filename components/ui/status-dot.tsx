import { cn } from "./cn.ts";

const COLORS = {
  quiet: "bg-faint",
  busy: "bg-accent animate-breathe",
  attention: "bg-warn animate-breathe",
  good: "bg-good",
  bad: "bg-bad",
};

/**
 * Shows a dot in the color of a state. The dot is hidden from screen readers, because the text next to it names the
 * state.
 */
export function StatusDot({ tone, className }: { tone: keyof typeof COLORS; className?: string }) {
  return <span aria-hidden className={cn("size-2 shrink-0 rounded-full", COLORS[tone], className)} />;
}
