import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";
import { cn } from "./cn.ts";

const styles = cva(
  "inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 font-medium text-2xs tabular-nums whitespace-nowrap [&_svg]:size-3",
  {
    variants: {
      tone: {
        quiet: "bg-hover text-soft",
        busy: "bg-accent-soft text-accent-strong",
        attention: "bg-warn-soft text-warn",
        good: "bg-good-soft text-good",
        bad: "bg-bad-soft text-bad",
      },
    },
    defaultVariants: { tone: "quiet" },
  },
);

/** Shows a small label. */
export function Badge({ tone, className, ...props }: ComponentProps<"span"> & VariantProps<typeof styles>) {
  return <span className={cn(styles({ tone }), className)} {...props} />;
}
