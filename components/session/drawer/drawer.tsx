"use client";

import { ChevronDown, ChevronUp } from "lucide-react";
import { type ComponentType, useState } from "react";
import { countsOf, type DrawerTab, listTabs, newsOf } from "#lib/page/state/drawer-tabs.ts";
import { useDrawer } from "../../runtime/drawer-context.tsx";
import { useSession } from "../../runtime/session-context.tsx";
import { cn } from "../../ui/cn.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { lazily } from "../../ui/lazily.tsx";
import { TabButton, TabRow } from "./tab-row.tsx";
import { useSyncAgents } from "./use-sync-agents.ts";

/** The code of each tab. The code of a tab that is not shown is not loaded. */
const LOADS = {
  result: async () => (await import("./result-tab.tsx")).ResultTab,
  changes: async () => (await import("../../changes/changes-tab.tsx")).ChangesTab,
  previews: async () => (await import("../../changes/previews-tab.tsx")).PreviewsTab,
  tests: async () => (await import("../../test-runs/tests-tab.tsx")).TestsTab,
  requirements: async () => (await import("../../planning/requirements-tab.tsx")).RequirementsTab,
  pages: async () => (await import("../../pages/pages-tab.tsx")).PagesTab,
  annotations: async () => (await import("./annotations-tab.tsx")).AnnotationsTab,
  evidence: async () => (await import("./evidence-tab.tsx")).EvidenceTab,
  files: async () => (await import("../../files/files-tab.tsx")).FilesTab,
  agents: async () => (await import("./agents-tab.tsx")).AgentsTab,
  activity: async () => (await import("./activity-tab.tsx")).ActivityTab,
} satisfies Record<DrawerTab, () => Promise<ComponentType>>;

const TABS: Record<DrawerTab, { name: string; Panel: ComponentType }> = {
  result: { name: "Result", Panel: lazily(LOADS.result) },
  changes: { name: "Changes", Panel: lazily(LOADS.changes) },
  previews: { name: "Previews", Panel: lazily(LOADS.previews) },
  tests: { name: "Tests", Panel: lazily(LOADS.tests) },
  requirements: { name: "Requirements", Panel: lazily(LOADS.requirements) },
  pages: { name: "Pages", Panel: lazily(LOADS.pages) },
  annotations: { name: "Annotations", Panel: lazily(LOADS.annotations) },
  evidence: { name: "Evidence", Panel: lazily(LOADS.evidence) },
  files: { name: "Files", Panel: lazily(LOADS.files) },
  agents: { name: "Agents", Panel: lazily(LOADS.agents) },
  activity: { name: "Activity", Panel: lazily(LOADS.activity) },
};

/**
 * Shows the panel below the live browser, with the results and records of the session. If the session has no live
 * browser, the panel cannot be closed.
 */
export function Drawer({
  isAlone,
  isShown,
  className,
}: {
  isAlone: boolean;
  /** Whether a tab is visible, at any width of the page. */
  isShown: boolean;
  className?: string | false;
}) {
  const state = useSession();
  const drawer = useDrawer();
  useSyncAgents(drawer.tab === "agents");
  const tabs = listTabs(state, useOpened(drawer.tab));
  const counts = countsOf(state);
  const hasNews = useNews(newsOf(state), drawer.tab);
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
        <TabRow activeId={`${shown}-tab`}>
          {tabs.map((tab) => (
            <TabButton
              key={tab}
              id={`${tab}-tab`}
              name={TABS[tab].name}
              count={tab === "result" ? 0 : counts[tab]}
              hasNews={hasNews(tab)}
              isActive={tab === shown}
              isOpen={isOpen || isAlone}
              onApproach={() => void LOADS[tab]().catch(() => {})}
              onClick={() => (drawer.tab === tab && !isAlone ? drawer.close() : drawer.open(tab))}
            />
          ))}
        </TabRow>
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
        {isShown && <Panel />}
      </div>
    </section>
  );
}

/** Returns the tabs that were opened during this visit. */
function useOpened(tab: DrawerTab | null): readonly DrawerTab[] {
  const [opened, setOpened] = useState<readonly DrawerTab[]>(tab ? [tab] : []);
  if (!tab || opened.includes(tab)) return opened;
  const all = [...opened, tab];
  setOpened(all);
  return all;
}

/** Returns a function that says whether a tab has news since it was last open. */
function useNews(news: Record<DrawerTab, number>, openTab: DrawerTab | null): (tab: DrawerTab) => boolean {
  const [seen, setSeen] = useState(news);
  if (openTab && seen[openTab] !== news[openTab]) setSeen({ ...seen, [openTab]: news[openTab] });
  return (tab) => tab !== openTab && news[tab] > seen[tab];
}
