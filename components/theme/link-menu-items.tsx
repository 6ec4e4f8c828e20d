"use client";

import type { ReactNode } from "react";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import { MenuButton } from "#components/ui/menu-button.tsx";
import { ThemeChoices } from "./theme-choices.tsx";

/** Shows the menu of `LinkMenu`, opened. */
export function LinkMenuItems({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Menu isOpenAtFirst trigger={<MenuButton />}>
      <MenuItem asChild>
        <a href={href}>{children}</a>
      </MenuItem>
      <MenuLine />
      <ThemeChoices />
    </Menu>
  );
}
