"use client";

import { Switch as Radix } from "radix-ui";
import type { ComponentProps } from "react";

/** An on/off switch. */
export function Switch(props: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className="inline-flex h-[18px] w-8 shrink-0 cursor-pointer items-center rounded-full bg-line-strong p-0.5 transition-colors data-[state=checked]:bg-accent"
      {...props}
    >
      <Radix.Thumb className="size-3.5 rounded-full bg-white transition-transform data-[state=checked]:translate-x-3.5 data-[state=checked]:bg-accent-ink" />
    </Radix.Root>
  );
}
