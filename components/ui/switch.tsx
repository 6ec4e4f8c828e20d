"use client";

import type { ComponentProps } from "react";

type Props = Omit<ComponentProps<"button">, "type" | "role"> & {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
};

/**
 * Shows an on/off switch. Radix's switch is not used, because it has a hidden field with inline styles, which the
 * Content-Security-Policy blocks.
 */
export function Switch({ checked, onCheckedChange, ...props }: Props) {
  const state = checked ? "checked" : "unchecked";
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      data-state={state}
      onClick={() => onCheckedChange(!checked)}
      className="inline-flex h-[18px] w-8 shrink-0 cursor-pointer items-center rounded-full bg-line-strong p-0.5 transition-colors data-[state=checked]:bg-accent"
      {...props}
    >
      <span
        data-state={state}
        className="size-3.5 rounded-full bg-white transition-transform data-[state=checked]:translate-x-3.5 data-[state=checked]:bg-accent-ink"
      />
    </button>
  );
}
