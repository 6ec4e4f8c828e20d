import type { Executor } from "#db/client.ts";
import type { ToolName } from "#lib/catalogue/tools.ts";
import type { ListedOutcome, OutcomeKind, OutcomeLists } from "#lib/events/outcome-schemas.ts";
import { listSessionPages } from "#lib/landing/list-session-pages.ts";
import { listReports } from "#lib/reports/report-store.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { listVariantSummaries } from "#lib/variant/variant-store.ts";

/** The fields of a session that decide which outcomes it can have. */
type OutcomeSession = Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "subAgents" | "toolset">;

/** The public origins with which the URLs of outcomes begin, without a trailing slash. */
type Origins = { baseUrl: string; pagesOrigin: string };

/** A kind that `run.completed` and the agent status list. */
type Listed<Kind extends ListedOutcome> = {
  /** Whether the session can have any. If not, the database is not queried. */
  mayExist: (session: OutcomeSession) => boolean;
  list: (db: Executor, sessionId: string, origins: Origins) => Promise<OutcomeLists[Kind]>;
  /** Whether `run.completed` has an empty list. A structured session never has one there. */
  showsEmptyList: boolean;
};

/** A kind that only events report. `needsLocks`: whether the session may have some that the end of a turn must stop. */
type Unlisted = { needsLocks: (session: OutcomeSession) => boolean };

const hasTool = ({ toolset }: OutcomeSession, ...names: ToolName[]) =>
  names.some((name) => toolset.includes(name));

/**
 * Everything that the turns of a session can make. Source: `wire.md`, Variants; `wire.md`, Reports; `wire.md`, Landing
 * pages.
 */
const OUTCOMES: {
  [Kind in OutcomeKind]: Kind extends ListedOutcome ? Listed<Kind> : Unlisted;
} = {
  variants: {
    // A person or a program can import a variant into an unstructured session that lacks the tools.
    mayExist: (session) =>
      session.outputSchema === null || hasTool(session, "apply_variant", "import_legacy_session"),
    list: (db, sessionId, { baseUrl }) => listVariantSummaries(db, sessionId, baseUrl),
    showsEmptyList: true,
  },
  reports: {
    mayExist: (session) => hasTool(session, "publish_qa_report"),
    list: (db, sessionId) => listReports(db, sessionId, { onlyNewest: true }),
    showsEmptyList: false,
  },
  pages: {
    mayExist: (session) => hasTool(session, "deploy_landing_page"),
    list: (db, sessionId, { pagesOrigin }) => listSessionPages(db, sessionId, pagesOrigin),
    showsEmptyList: true,
  },
  // A test run continues after the turn that started it.
  tests: { needsLocks: () => false },
  agents: { needsLocks: ({ subAgents }) => subAgents },
};

const isListed = (kind: string): kind is ListedOutcome => "list" in OUTCOMES[kind as OutcomeKind];
const LISTED = Object.keys(OUTCOMES).filter(isListed);

/** The outcomes of a session that has none. */
export const NO_OUTCOMES: OutcomeLists = { variants: [], reports: [], pages: [] };

/** Reads the listed outcomes of a session. A sub-agent has none, because they belong to the root session. */
export async function readOutcomes(
  db: Executor,
  session: OutcomeSession,
  origins: Origins,
): Promise<OutcomeLists> {
  if (session.parentSessionId !== null) return NO_OUTCOMES;
  const lists: [ListedOutcome, unknown[]][] = [];
  for (const kind of LISTED) {
    const { mayExist, list } = OUTCOMES[kind];
    lists.push([kind, mayExist(session) ? await list(db, session.id, origins) : []]);
  }
  // `Object.fromEntries` loses that each kind has the list of its own reader.
  return Object.fromEntries(lists) as OutcomeLists;
}

/** Returns the lists that `run.completed` contains. */
export const selectForEvent = (
  { parentSessionId, outputSchema }: OutcomeSession,
  lists: OutcomeLists,
): Partial<OutcomeLists> => {
  const isShown = (kind: ListedOutcome) =>
    lists[kind].length > 0 ||
    (OUTCOMES[kind].showsEmptyList && parentSessionId === null && outputSchema === null);
  return Object.fromEntries(LISTED.filter(isShown).map((kind) => [kind, lists[kind]]));
};

/** Whether the session may have outcomes that the end of a turn must stop, which needs the locks of the session tree. */
export const mayHaveLiveOutcomes = (session: OutcomeSession): boolean =>
  Object.values(OUTCOMES).some((kind) => "needsLocks" in kind && kind.needsLocks(session));
