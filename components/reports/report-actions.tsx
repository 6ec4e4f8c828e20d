"use client";

import { Ellipsis, Printer } from "lucide-react";
import type { ReportPage } from "#lib/page/state/view-types.ts";
import { ThemeChoices } from "../theme/theme-choices.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";

/** Shows the buttons that copy, download and print a report. */
export function ReportActions({ page: { markdown, paths } }: { page: ReportPage }) {
  return (
    <div className="flex shrink-0 items-center gap-1">
      <CopyButton text={markdown} size="md" variant="ghost" className="max-sm:hidden">
        Copy as Markdown
      </CopyButton>
      <CopyButton text={markdown} label="Copy as Markdown" size="icon" className="sm:hidden" />
      <IconButton label="Print" onClick={() => window.print()}>
        <Printer />
      </IconButton>
      <Menu
        trigger={
          <IconButton label="Download and appearance">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem asChild>
          <a href={`${paths.report}?format=markdown`} download>
            Download Markdown
          </a>
        </MenuItem>
        <MenuItem asChild>
          <a href={`${paths.report}?format=json`} download>
            Download JSON
          </a>
        </MenuItem>
        <MenuLine />
        <ThemeChoices />
      </Menu>
    </div>
  );
}
