"use client";

import {
  Bell,
  BellOff,
  Braces,
  CircleHelp,
  FileText,
  GraduationCap,
  House,
  Import,
  Share2,
} from "lucide-react";
import Link from "next/link";
import { ThemeChoices } from "#components/theme/theme-choices.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import { MenuButton } from "#components/ui/menu-button.tsx";
import { exportPath } from "#lib/page/actions/porting-actions.ts";
import { mayDirect, mayShare } from "#lib/page/state/session-state.ts";
import { useSession } from "../runtime/session-context.tsx";
import type { useNotifications } from "./use-notifications.ts";

/** Functions that open the dialogs of the session page. */
export type SessionDialogs = {
  openHelp: () => void;
  openShare: () => void;
  openSkills: () => void;
  notifications: ReturnType<typeof useNotifications>;
  openImport: () => void;
};

/** Shows the menu of rarely used actions. */
export function SessionMenu({ openHelp, openShare, openSkills, openImport, notifications }: SessionDialogs) {
  const state = useSession();
  return (
    <Menu isOpenAtFirst trigger={<MenuButton />}>
      {mayShare(state) && (
        <MenuItem className="md:hidden" onSelect={openShare}>
          <Share2 /> Share
        </MenuItem>
      )}
      <MenuItem onSelect={openSkills}>
        <GraduationCap /> Skills
      </MenuItem>
      {state.agent === null && (
        <>
          <MenuItem asChild>
            <a href={exportPath(state.paths.actions, "html")} download>
              <FileText /> Export as HTML
            </a>
          </MenuItem>
          <MenuItem asChild>
            <a href={exportPath(state.paths.actions, "json")} download>
              <Braces /> Export as JSON
            </a>
          </MenuItem>
          {mayDirect(state) && (
            <MenuItem onSelect={openImport}>
              <Import /> Import
            </MenuItem>
          )}
          <MenuLine />
        </>
      )}
      <NotifyItem {...notifications} />
      <MenuItem onSelect={openHelp}>
        <CircleHelp /> Help
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

/** Switches notifications on and off. Says so if the browser refuses them. */
function NotifyItem({ notifications, toggle }: ReturnType<typeof useNotifications>) {
  if (notifications === "unsupported") return null;
  if (notifications === "refused")
    return (
      <MenuItem disabled>
        <BellOff /> Notifications are blocked in the browser
      </MenuItem>
    );
  const isOn = notifications === "on";
  return (
    <MenuItem onSelect={() => void toggle()}>
      {isOn ? <BellOff /> : <Bell />}
      {isOn ? "Stop notifying me" : "Notify me in the background"}
    </MenuItem>
  );
}
