"use client";

import { BookOpen, Ellipsis } from "lucide-react";
import { ThemeChoices } from "#components/theme/theme-choices.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";

/** What is rarely needed. */
export function LandingMenu() {
  return (
    <Menu
      trigger={
        <IconButton label="More">
          <Ellipsis />
        </IconButton>
      }
    >
      <MenuItem asChild>
        <a href="/docs">
          <BookOpen /> API reference
        </a>
      </MenuItem>
      <MenuLine />
      <ThemeChoices />
    </Menu>
  );
}
