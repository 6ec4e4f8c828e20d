"use client";

import type { ReactNode } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { Tooltip } from "./tooltip.tsx";

/** A button that is an icon, with its name for those who do not see or know it. */
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
