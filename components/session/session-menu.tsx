"use client";

import { Braces, CircleHelp, Ellipsis, FileText, GraduationCap, House, Import, Share2 } from "lucide-react";
import Link from "next/link";
import { ThemeChoices } from "#components/theme/theme-choices.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import { exportPath } from "#lib/page/actions/porting-actions.ts";
import { mayDirect, type SessionState } from "#lib/page/state/session-state.ts";
import { useSession } from "../runtime/session-context.tsx";

/** Whether this visitor may create and revoke links: only with the role `drive` and the session's own link. */
export const mayShare = ({ role, hasOwnLink }: SessionState): boolean => role === "drive" && hasOwnLink;

/** Functions that open the dialogs of the session page. */
export type SessionDialogs = {
  openHelp: () => void;
  openShare: () => void;
  openSkills: () => void;
  openImport: () => void;
};

/** Shows the menu of rarely used actions. */
export function SessionMenu({ openHelp, openShare, openSkills, openImport }: SessionDialogs) {
  const state = useSession();
  return (
    <Menu
      trigger={
        <IconButton label="More">
          <Ellipsis />
        </IconButton>
      }
    >
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
