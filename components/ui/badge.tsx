import type { ComponentProps } from "react";
import { cn } from "./cn.ts";

const BASE =
  "inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 font-medium text-2xs tabular-nums whitespace-nowrap [&_svg]:size-3";
const TONES = {
  quiet: "bg-hover text-soft",
  busy: "bg-accent-soft text-accent-strong",
  attention: "bg-warn-soft text-warn",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
};

/** Shows a small label. */
export function Badge({
  tone = "quiet",
  className,
  ...props
}: ComponentProps<"span"> & { tone?: keyof typeof TONES | undefined }) {
  return <span className={cn(BASE, TONES[tone], className)} {...props} />;
}
