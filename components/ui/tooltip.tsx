"use client";

import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./kbd.tsx";

/** Shows a description of a control on hover and on focus. */
export function Tooltip({ label, keys, children }: { label: ReactNode; keys?: string; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={400} skipDelayDuration={200}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={6}
            collisionPadding={8}
            className="z-50 flex max-w-72 items-center gap-2 rounded-md border border-line bg-raised px-2 py-1 text-ink text-xs shadow-(color:--shadow-color) shadow-lg"
          >
            {label}
            {keys && <Kbd>{keys}</Kbd>}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
