"use client";

import { ChevronDown, ChevronUp } from "lucide-react";
import { type ComponentType, type KeyboardEvent, type ReactNode, useState } from "react";
import type { SessionState } from "#lib/page/state/session-state.ts";
import { ChangesTab } from "../../changes/changes-tab.tsx";
import { PreviewsTab } from "../../changes/previews-tab.tsx";
import { PagesTab } from "../../pages/pages-tab.tsx";
import { RequirementsTab } from "../../planning/requirements-tab.tsx";
import { cn } from "../../ui/cn.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { useSession } from "../session-context.tsx";
import { ActivityTab } from "./activity-tab.tsx";
import { AgentsTab } from "./agents-tab.tsx";
import { AnnotationsTab } from "./annotations-tab.tsx";
import { type DrawerTab, useDrawer } from "./drawer-context.tsx";
import { EvidenceTab } from "./evidence-tab.tsx";
import { ResultTab } from "./result-tab.tsx";
import { useSyncAgents } from "./use-sync-agents.ts";

const TABS: Record<DrawerTab, { name: string; Panel: ComponentType }> = {
  result: { name: "Result", Panel: ResultTab },
  changes: { name: "Changes", Panel: ChangesTab },
  previews: { name: "Previews", Panel: PreviewsTab },
  requirements: { name: "Requirements", Panel: RequirementsTab },
  pages: { name: "Pages", Panel: PagesTab },
  annotations: { name: "Annotations", Panel: AnnotationsTab },
  evidence: { name: "Evidence", Panel: EvidenceTab },
  agents: { name: "Agents", Panel: AgentsTab },
  activity: { name: "Activity", Panel: ActivityTab },
};

/**
 * The tabs of a session. Changes, previews and landing pages have tabs once there are some. A sub-agent has none of these: its result is
 * in its parent's Agents tab, and variants belong to the session at the top. It has an Agents tab only if it has
 * sub-agents of its own.
 */
const listTabs = ({
  agent,
  agents,
  session,
  variants,
  previews,
  pages,
  requirements,
  role,
}: SessionState): DrawerTab[] => [
  ...(agent ? [] : (["result"] as const)),
  ...(!agent && variants.length > 0 ? (["changes"] as const) : []),
  ...(!agent && previews.length > 0 ? (["previews"] as const) : []),
  ...(!agent && pages.length > 0 ? (["pages"] as const) : []),
  ...(!agent && (role === "drive" || requirements.length > 0) ? (["requirements"] as const) : []),
  "annotations",
  "evidence",
  ...(session.mayDelegate && (!agent || agents.length > 0) ? (["agents"] as const) : []),
  "activity",
];

/** The panel below the live browser: results and records. It is closed at first; without a browser it is always open. */
export function Drawer({ isAlone, className }: { isAlone: boolean; className?: string | false }) {
  const state = useSession();
  const drawer = useDrawer();
  useSyncAgents(drawer.tab === "agents");
  const tabs = listTabs(state);
  const counts = countsOf(state);
  const hasNews = useNews(newsOf(state, counts), drawer.tab);
  const isOpen = drawer.tab !== null;
  const hasOutcome =
    state.session.isStructured ||
    state.variants.length > 0 ||
    state.pages.length > 0 ||
    state.reports.length > 0;
  const first = isAlone && !hasOutcome ? "activity" : (tabs[0] ?? "activity");
  const shown = drawer.tab !== null && tabs.includes(drawer.tab) ? drawer.tab : first;
  const { Panel } = TABS[shown];
  const firstWithNews = tabs.find(hasNews) ?? first;

  return (
    <section
      aria-label="Result and records"
      className={cn(
        "flex min-h-0 flex-col bg-surface lg:border-t",
        isAlone
          ? "lg:flex-1 lg:border-t-0"
          : isOpen
            ? "lg:h-[clamp(240px,40%,480px)] lg:shrink-0"
            : "lg:shrink-0",
        className,
      )}
    >
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-2">
        <TabList>
          {tabs.map((tab) => (
            <TabButton
              key={tab}
              id={`${tab}-tab`}
              name={TABS[tab].name}
              count={tab === "result" ? 0 : counts[tab]}
              hasNews={hasNews(tab)}
              isActive={tab === shown}
              isOpen={isOpen || isAlone}
              onClick={() => (drawer.tab === tab && !isAlone ? drawer.close() : drawer.open(tab))}
            />
          ))}
        </TabList>
        {!isAlone && (
          <IconButton
            size="icon-sm"
            className="max-lg:hidden"
            label={isOpen ? "Close the drawer" : "Open the drawer"}
            onClick={() => (isOpen ? drawer.close() : drawer.open(firstWithNews))}
          >
            {isOpen ? <ChevronDown /> : <ChevronUp />}
          </IconButton>
        )}
      </div>
      <div
        role="tabpanel"
        id="drawer-panel"
        aria-labelledby={`${shown}-tab`}
        className={cn("min-h-0 flex-1 overflow-auto", !isOpen && !isAlone && "lg:hidden")}
      >
        <Panel />
      </div>
    </section>
  );
}

/** The row of tabs. Arrow keys, Home and End move the focus. */
function TabList({ children }: { children: ReactNode }) {
  function moveFocus(event: KeyboardEvent<HTMLElement>): void {
    const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
    // Only the tabs in the row take the focus.
    const current = tabs.indexOf(event.target as HTMLElement);
    const targets: Record<string, number> = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: -1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    tabs.at(target % tabs.length)?.focus();
  }
  return (
    <div
      role="tablist"
      aria-label="Result and records"
      onKeyDown={moveFocus}
      className="flex h-full min-w-0 flex-1 gap-1 overflow-x-auto"
    >
      {children}
    </div>
  );
}

function TabButton({
  id,
  name,
  count,
  hasNews,
  isActive,
  isOpen,
  onClick,
}: {
  id: string;
  name: string;
  count: number;
  hasNews: boolean;
  isActive: boolean;
  isOpen: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      role="tab"
      id={id}
      aria-selected={isActive && isOpen}
      aria-controls="drawer-panel"
      tabIndex={isActive ? 0 : -1}
      onClick={onClick}
      className={cn(
        "relative flex shrink-0 items-center gap-1.5 rounded-sm px-2 font-medium text-faint text-sm outline-offset-[-2px] hover:text-ink",
        isActive && "max-lg:text-ink",
        isActive && isOpen && "text-ink",
      )}
    >
      {name}
      {count > 0 && <span className="text-faint text-xs tabular-nums">{count}</span>}
      {hasNews && (
        <span className="size-1.5 rounded-full bg-accent">
          <span className="sr-only">new</span>
        </span>
      )}
      <span
        aria-hidden
        className={cn(
          "absolute inset-x-2 -bottom-px h-0.5",
          isActive && "max-lg:bg-accent",
          isActive && isOpen && "bg-accent",
        )}
      />
    </button>
  );
}

/** The number of items in each tab. */
const countsOf = (state: SessionState): Record<DrawerTab, number> => ({
  result: state.deliverables.filter(({ status }) => status !== "pending").length,
  changes: state.variants.reduce((sum, { changeCount }) => sum + (changeCount ?? 0), 0),
  previews: state.previews.length,
  requirements: state.requirements.length,
  pages: state.pages.length,
  annotations: state.annotations.length,
  evidence: Object.values(state.toolCalls).reduce((sum, { evidence }) => sum + evidence.length, 0),
  agents: state.agents.length,
  activity: 0,
});

/**
 * A number for each tab that rises with news. A new revision or check is news even if the number of changes stays.
 * Activity changes all the time and is never news.
 */
const newsOf = (state: SessionState, counts: Record<DrawerTab, number>): Record<DrawerTab, number> => ({
  ...counts,
  result: counts.result + state.reports.reduce((sum, { version }) => sum + version, 0),
  changes: state.variantChanges,
  previews: state.previewChanges,
  requirements: state.requirementChanges,
  pages: state.pageChanges,
});

/** Tells which tabs have news since they were last open. */
function useNews(news: Record<DrawerTab, number>, openTab: DrawerTab | null): (tab: DrawerTab) => boolean {
  const [seen, setSeen] = useState(news);
  if (openTab && seen[openTab] !== news[openTab]) setSeen({ ...seen, [openTab]: news[openTab] });
  return (tab) => tab !== openTab && news[tab] > seen[tab];
}
