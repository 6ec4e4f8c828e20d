"use client";

import { Ellipsis, FileJson } from "lucide-react";
import { ThemeChoices } from "#components/theme/theme-choices.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";

/** What is rarely needed. */
export function ReferenceMenu() {
  return (
    <Menu
      trigger={
        <IconButton label="More">
          <Ellipsis />
        </IconButton>
      }
    >
      <MenuItem asChild>
        <a href="/api/openapi.json">
          <FileJson /> OpenAPI document
        </a>
      </MenuItem>
      <MenuLine />
      <ThemeChoices />
    </Menu>
  );
}
