"use client";

import { X } from "lucide-react";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { cn } from "#components/ui/cn.ts";

/**
 * Lists the tabs of the live browser if there are several. The person who has control switches and closes them. The agent
 * works with the tab that is shown.
 *
 * @param onRefused called when a visitor without control wants to change the tabs.
 */
export function TabStrip({ onRefused }: { onRefused: () => void }) {
  const { stage, role, control } = useSession();
  const { live } = useRuntime();
  const tabs = stage?.tabs ?? [];
  if (tabs.length < 2) return null;
  const mayDrive = role === "drive";

  function change(action: "show" | "close", tabId: string): void {
    if (control === "you") live.send({ type: "input.tab", action, tabId });
    else onRefused();
  }
  return (
    <div className="shrink-0 overflow-x-auto border-b bg-sunken">
      <ul aria-label="Tabs of the live browser" className="flex h-8 min-w-0 items-stretch">
        {tabs.map(({ id, title, url, isShown }) => (
          <li
            key={id}
            className={cn(
              "flex w-48 min-w-24 shrink items-center border-r",
              isShown ? "bg-surface text-ink" : "text-soft hover:bg-hover",
            )}
          >
            <button
              type="button"
              aria-current={isShown ? "page" : undefined}
              disabled={!mayDrive}
              title={url}
              onClick={() => !isShown && change("show", id)}
              className="min-w-0 flex-1 self-stretch truncate pl-3 text-left text-xs"
            >
              {nameOf(title, url)}
            </button>
            {mayDrive && (
              <button
                type="button"
                aria-label={`Close the tab ${nameOf(title, url)}`}
                onClick={() => change("close", id)}
                className="mr-1 flex size-6 shrink-0 items-center justify-center rounded-md text-faint hover:bg-hover hover:text-ink"
              >
                <X aria-hidden className="size-3.5" />
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

const nameOf = (title: string, url: string): string =>
  title || (url === "about:blank" ? "New tab" : (URL.parse(url)?.host ?? url));
