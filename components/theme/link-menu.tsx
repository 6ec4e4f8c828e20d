"use client";

import type { ReactNode } from "react";
import { lazily } from "#components/ui/lazily.tsx";
import { MenuButton, OnDemand } from "#components/ui/menu-button.tsx";

const loadItems = async () => (await import("./link-menu-items.tsx")).LinkMenuItems;
const LinkMenuItems = lazily(loadItems, <MenuButton aria-haspopup="menu" aria-expanded />);

/** Shows the menu on pages outside of sessions: one link, and the choice of the theme. */
export function LinkMenu({ href, children }: { href: string; children: ReactNode }) {
  return (
    <OnDemand preload={() => void loadItems().catch(() => {})}>
      <LinkMenuItems href={href}>{children}</LinkMenuItems>
    </OnDemand>
  );
}
