"use client";

import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import { ThemeChoices } from "./theme-choices.tsx";

/** Shows the menu on pages outside of sessions: one link, and the choice of the theme. */
export function LinkMenu({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <IconButton label="More">
          <Ellipsis />
        </IconButton>
      }
    >
      <MenuItem asChild>
        <a href={href}>{children}</a>
      </MenuItem>
      <MenuLine />
      <ThemeChoices />
    </Menu>
  );
}
