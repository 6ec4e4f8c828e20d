"use client";

import type { ReactNode } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { Tooltip } from "./tooltip.tsx";

/** Shows an icon button with an accessible name and a tooltip. */
export function IconButton({
  label,
  keys,
  children,
  size = "icon",
  ...props
}: Omit<ButtonProps, "aria-label"> & { label: string; keys?: string; children: ReactNode }) {
  return (
    <Tooltip label={label} {...(keys ? { keys } : {})}>
      <Button variant="ghost" size={size} aria-label={label} {...props}>
        {children}
      </Button>
    </Tooltip>
  );
}
