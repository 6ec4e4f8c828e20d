import type { OutcomeKind } from "#lib/events/outcome-schemas.ts";
import type { SessionState } from "./session-state.ts";

export type DrawerTab =
  | "result"
  | "changes"
  | "previews"
  | "tests"
  | "requirements"
  | "pages"
  | "annotations"
  | "evidence"
  | "files"
  | "agents"
  | "activity";

/** The order of the tabs in the row. */
const ORDER: readonly DrawerTab[] = [
  "result",
  "changes",
  "previews",
  "tests",
  "requirements",
  "pages",
  "annotations",
  "evidence",
  "files",
  "agents",
  "activity",
];

/** Tabs that the page of a sub-agent does not have. The result of a sub-agent is in the Agents tab of its parent. */
const TOP_LEVEL_TABS: readonly DrawerTab[] = [
  "result",
  "changes",
  "previews",
  "tests",
  "requirements",
  "pages",
  "files",
];

/**
 * Lists the tabs of a session: Result, Activity, tabs with content, and tabs that were opened during this visit. An
 * opened tab stays even without content, so that it does not disappear while a person reads it. The page of a sub-agent
 * has none of `TOP_LEVEL_TABS`.
 */
export function listTabs(state: SessionState, opened: readonly DrawerTab[]): DrawerTab[] {
  const counts = countsOf(state);
  const isShown = (tab: DrawerTab): boolean => {
    if (state.agent && TOP_LEVEL_TABS.includes(tab)) return false;
    if (tab === "result" || tab === "activity" || opened.includes(tab)) return true;
    if (tab === "files") return state.session.hasWorkspace && (state.hasFiles || state.fileChanges > 0);
    // Counts variants, because the number of their changes may not be loaded yet.
    return tab === "changes" ? state.variants.length > 0 : counts[tab] > 0;
  };
  return ORDER.filter(isShown);
}

/**
 * Returns the number of items in each tab. For Result, this is the number of finished structured results. For Files
 * and Activity, the number is always 0.
 */
export const countsOf = (state: SessionState): Record<DrawerTab, number> => ({
  result: state.deliverables.filter(({ status }) => status !== "pending").length,
  changes: state.variants.reduce((sum, { changeCount }) => sum + (changeCount ?? 0), 0),
  previews: state.previews.length,
  tests: state.testRuns.length,
  requirements: state.requirements.length,
  pages: state.pages.length,
  annotations: state.annotations.length,
  evidence: Object.values(state.toolCalls).reduce((sum, { evidence }) => sum + evidence.length, 0),
  files: 0,
  agents: state.agents.length,
  activity: 0,
});

/** The tab that shows a kind of outcome, and a number that rises with each new or changed one. */
const OUTCOMES: Record<OutcomeKind, { tab: DrawerTab; countNews: (state: SessionState) => number }> = {
  // A new revision or check is news even if the number of changes stays the same.
  variants: { tab: "changes", countNews: ({ variantChanges }) => variantChanges },
  reports: {
    tab: "result",
    countNews: ({ reports }) => reports.reduce((sum, { version }) => sum + version, 0),
  },
  pages: { tab: "pages", countNews: ({ pageChanges }) => pageChanges },
  // Rises when a test run ends.
  tests: {
    tab: "tests",
    countNews: ({ testRuns }) => testRuns.filter(({ endedAt }) => endedAt !== null).length,
  },
  agents: { tab: "agents", countNews: ({ agents }) => agents.length },
};

/**
 * Returns a number for each tab. A tab has news when its number rises. Only outcomes are news. Evidence and activity
 * are not, because their numbers would rise with every screenshot or step. Annotations are not, because the person
 * makes them.
 */
export const newsOf = (state: SessionState): Record<DrawerTab, number> => {
  const news: Record<DrawerTab, number> = {
    result: countsOf(state).result,
    changes: 0,
    previews: state.previewChanges,
    tests: 0,
    requirements: state.requirementChanges,
    pages: 0,
    annotations: 0,
    evidence: 0,
    files: 0,
    agents: 0,
    activity: 0,
  };
  for (const { tab, countNews } of Object.values(OUTCOMES)) news[tab] += countNews(state);
  return news;
};
