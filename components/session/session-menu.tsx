"use client";

import { Ellipsis, House, Keyboard, Link2 } from "lucide-react";
import Link from "next/link";
import { ThemeChoices } from "#components/theme/theme-choices.tsx";
import { copyText } from "#components/ui/copy-text.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import { useSession } from "./session-context.tsx";

/** What is rarely needed. */
export function SessionMenu({ openHelp }: { openHelp: () => void }) {
  const { paths, role } = useSession();
  const { share } = paths;
  return (
    <Menu
      trigger={
        <IconButton label="More">
          <Ellipsis />
        </IconButton>
      }
    >
      {role === "drive" && share && (
        <MenuItem className="md:hidden" onSelect={() => void copyText(new URL(share, location.origin).href)}>
          <Link2 /> Copy link
        </MenuItem>
      )}
      <MenuItem onSelect={openHelp}>
        <Keyboard /> Keyboard
      </MenuItem>
      <MenuItem asChild>
        <Link href="/">
          <House /> All sessions
        </Link>
      </MenuItem>
      <MenuLine />
      <ThemeChoices />
    </Menu>
  );
}
