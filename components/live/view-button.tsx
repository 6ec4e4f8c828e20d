"use client";

import { Monitor } from "lucide-react";
import { IconButton } from "#components/ui/icon-button.tsx";
import type { MenuButtonProps } from "#components/ui/menu-button.tsx";

/** The button of the live view's menu. */
export function ViewButton(props: MenuButtonProps) {
  return (
    <IconButton label="View" size="icon-sm" {...props}>
      <Monitor />
    </IconButton>
  );
}
