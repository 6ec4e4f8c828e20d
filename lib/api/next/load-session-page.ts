import { findAgent } from "#lib/agents/agent-store.ts";
import { listAnnotations } from "#lib/annotation/list-annotations.ts";
import { hasOwnBrowser } from "#lib/browser/store/browser-store.ts";
import { listSessionPages } from "#lib/landing/list-session-pages.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { AnnotationView, RunView } from "#lib/page/state/view-types.ts";
import { toPlan } from "#lib/planning/plan.ts";
import { findPlan, listRequirementRows } from "#lib/planning/planning-store.ts";
import { toRequirement } from "#lib/planning/requirement.ts";
import { summarizeImport } from "#lib/porting/import-document.ts";
import { listImports } from "#lib/porting/import-store.ts";
import { listReports } from "#lib/reports/report-store.ts";
import { listQueue } from "#lib/session/follow-up/queue.ts";
import { isCompacting, projectDeliverable, projectTurnState } from "#lib/session/run/status.ts";
import type { ShareAccess } from "#lib/session/share/share-link.ts";
import { listOpenElicitations } from "#lib/session/store/elicitation-store.ts";
import { listDeliverables, listOpenRuns, listRuns, type RunRow } from "#lib/session/store/run-store.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { listReadSteers } from "#lib/session/store/steering-store.ts";
import { listRecentMessages } from "#lib/session/store/transcript-store.ts";
import { readWaitingOn } from "#lib/session/waiting/read-waiting-on.ts";
import { showTestRun } from "#lib/test-runs/show-test-run.ts";
import { listTestRuns } from "#lib/test-runs/test-run-store.ts";
import { listPreviews } from "#lib/variant/previews/preview-store.ts";
import { listVariantFacts } from "#lib/variant/variant-store.ts";
import { readVisit } from "../auth/exchange-link.ts";
import { findSubAgent } from "../auth/known-session.ts";
import { readAgentViews } from "../handlers/agent-handlers.ts";
import type { ApiServices } from "../handlers/services.ts";
import {
  readCompactions,
  readMissingTools,
  readQuestions,
  readStops,
  readToolCalls,
} from "./read-event-views.ts";
import { readBrowserPosition, readLatestEvents } from "./read-latest-events.ts";

const RUNS = 50;
const MESSAGES = 200;
const ANNOTATIONS = 50;
const DELIVERABLES = 20;
const IMPORTS = 100;
const TEST_RUNS = 50;

/**
 * Loads the initial data of the session page. Live events then update the data on the page. Undefined for a visitor
 * without access, and for an unknown sub-agent.
 *
 * @param agentId if given, the data of this sub-agent of the session is loaded instead of the session's own data.
 */
export async function loadSessionPage(
  services: ApiServices,
  sessionId: string,
  cookieHeader: string | null,
  agentId?: string,
): Promise<SessionSnapshot | undefined> {
  const { db } = services;
  const access = await readVisit(services, sessionId, cookieHeader, false);
  if (!access) return undefined;
  // The session row is read first, because the live connection continues after the row's last event number. An event
  // that is stored during the later reads may reach the page twice, which is harmless. If the row were read last, the
  // page could miss the event.
  const session =
    agentId === undefined
      ? await findSession(db, sessionId)
      : await findSubAgent(services, sessionId, agentId);
  return session && takeSnapshot(services, session, access, sessionId);
}

/**
 * Loads the initial data of the live view's page. A visitor who has only a `liveViewUrl` gets only the browser's state.
 * Undefined for a visitor without access.
 */
export async function loadLivePage(
  services: ApiServices,
  sessionId: string,
  cookieHeader: string | null,
): Promise<SessionSnapshot | undefined> {
  const access = await readVisit(services, sessionId, cookieHeader, true);
  return access && loadSnapshot(services, sessionId, access);
}

/** Loads what a visitor with this access sees of a session. Undefined if the session was removed. */
export async function loadSnapshot(
  services: ApiServices,
  sessionId: string,
  access: ShareAccess,
): Promise<SessionSnapshot | undefined> {
  const session = await findSession(services.db, sessionId);
  if (!session) return undefined;
  return access.scope === "session"
    ? takeSnapshot(services, session, access, sessionId)
    : takeLiveViewSnapshot(services, session, access);
}

/** Takes a snapshot with only the browser's state, because a `liveViewUrl` shows nothing else of the session. */
async function takeLiveViewSnapshot(
  services: ApiServices,
  session: SessionRow,
  { role }: ShareAccess,
): Promise<SessionSnapshot> {
  return {
    session: {
      id: session.id,
      title: "this session",
      source: session.source,
      createdAt: session.createdAt.toISOString(),
      targetUrl: null,
      isStructured: false,
      outputSchema: null,
      hasBrowser: await hasOwnBrowser(services.db, session),
      hasWorkspace: false,
      mayDelegate: false,
      excludesTools: false,
      asksApproval: false,
    },
    agent: null,
    agents: [],
    role,
    model: services.settings.model,
    turnState: "idle",
    runs: [],
    messages: [],
    hasEarlier: false,
    toolCalls: [],
    compactions: [],
    missingTools: [],
    queue: [],
    steers: [],
    annotations: [],
    elicitations: [],
    waitingOn: null,
    questions: [],
    stops: {},
    deliverables: [],
    variants: [],
    previews: [],
    reports: [],
    testRuns: [],
    plan: toPlan(undefined),
    requirements: [],
    pages: [],
    imports: [],
    hasFiles: false,
    ...(await readBrowserState(services, session)),
    lastSeq: session.eventSeq,
    hasOwnLink: false,
    paths: pathsOf(session.id, session.id),
  };
}

/**
 * Returns the paths that the page uses for a session.
 * @param pageId the session in the page's URL: this session, or a session above it if this session is a sub-agent.
 */
function pathsOf(sessionId: string, pageId: string) {
  const agents = `/s/${pageId}/agents`;
  const data = sessionId === pageId ? `/api/sessions/${pageId}` : `${agents}/${sessionId}`;
  return {
    live: `${data}/live`,
    actions: `${sessionId === pageId ? `/s/${pageId}` : data}/actions`,
    artifacts: `${data}/artifacts`,
    files: `/api/sessions/${sessionId}/files`,
    messages: `${data}/messages`,
    picture: `${data}/live/picture`,
    recording: `/api/sessions/${sessionId}/recording`,
    variants: `${data}/variants`,
    tests: `${data}/tests`,
    planning: data,
    imports: `${data}/imports`,
    skills: `${data}/skills`,
    inbox: `/s/${pageId}/actions/inbox`,
    agents,
  };
}

const hasWorkspace = ({ sandbox }: ApiServices, { capabilities, parentSessionId }: SessionRow): boolean =>
  capabilities.sandbox && parentSessionId === null && sandbox.describe().kind !== "none";

/** Describes a session as a sub-agent. Null for a session without a parent. */
async function readAgentFacts(
  { db }: ApiServices,
  { id, parentSessionId }: SessionRow,
  pageId: string,
): Promise<SessionSnapshot["agent"]> {
  const agent = parentSessionId === null ? undefined : await findAgent(db, id);
  if (!agent) return null;
  const parent = await findSession(db, agent.parentSessionId);
  const parentAgent = await findAgent(db, agent.parentSessionId);
  const pathAbove =
    agent.parentSessionId === pageId ? `/s/${pageId}` : `/s/${pageId}/agents/${agent.parentSessionId}`;
  return {
    name: agent.name,
    objective: agent.objective,
    browser: agent.browser,
    parent: {
      title: parentAgent?.name ?? parent?.title ?? "",
      path: id === pageId ? null : pathAbove,
    },
  };
}

/** Reads the browser's status, the session's position in the browser queue, and the time of the last picture. */
async function readBrowserState({ browser, log }: ApiServices, { id, eventSeq }: SessionRow) {
  const status = await browser.readStatus(id);
  const pictureTakenAt = (await browser.readPictureTimes([id])).get(id);
  return {
    browser: status,
    browserPosition: status.status === "creating" ? await readBrowserPosition(log, id, eventSeq) : null,
    pictureTakenAt: pictureTakenAt?.toISOString() ?? null,
  };
}

async function takeSnapshot(
  services: ApiServices,
  session: SessionRow,
  { role, linkId }: ShareAccess,
  pageId: string,
): Promise<SessionSnapshot> {
  const { db } = services;
  const runs = (await listRuns(db, session.id, RUNS)).toReversed();
  // Reads one message more than the page shows, to detect whether there are earlier messages.
  const messages = await listRecentMessages(db, session.id, MESSAGES + 1);
  const annotations = await listAnnotations(db, session.id, { limit: ANNOTATIONS });
  const deliverables = await listDeliverables(db, session.id, DELIVERABLES);
  const questions = await listOpenElicitations(db, session.id);
  const open = await listOpenRuns(db, session.id);
  const running = open.find(({ run }) => run.state === "running")?.run;
  const events = await readLatestEvents(services.log, session.id, session.eventSeq);
  return {
    session: {
      id: session.id,
      title: session.title,
      createdAt: session.createdAt.toISOString(),
      source: session.source,
      targetUrl: session.targetUrl,
      isStructured: session.outputSchema !== null,
      outputSchema: session.outputSchema,
      hasBrowser: await hasOwnBrowser(services.db, session),
      hasWorkspace: hasWorkspace(services, session),
      mayDelegate: session.subAgents,
      excludesTools: services.settings.excludesTools || session.tools.externalTurnExclude.length > 0,
      asksApproval:
        (session.tools.approve ?? []).length > 0 ||
        // The handovers of sub-agents are shown on the page of the root session, too.
        (session.subAgents && session.interaction?.mode === "ask"),
    },
    agent: await readAgentFacts(services, session, pageId),
    agents: session.subAgents ? await readAgentViews(services, session.id) : [],
    role,
    model: services.settings.model,
    turnState: projectTurnState(
      open.length,
      open.some(({ run }) => isCompacting(run)),
    ),
    runs: runs.map(toRunView),
    messages: messages.slice(-MESSAGES),
    hasEarlier: messages.length > MESSAGES,
    toolCalls: readToolCalls(events),
    questions: readQuestions(events),
    stops: readStops(events),
    compactions: readCompactions(events),
    missingTools: readMissingTools(events),
    queue: await listQueue(db, session.id),
    steers: await listReadSteers(db, session.id),
    ...(await readBrowserState(services, session)),
    // The cast holds because submissions are validated before they are stored.
    annotations: annotations.data.toReversed() as AnnotationView[],
    elicitations: questions.map((row) => ({
      elicitationId: row.id,
      runId: row.runId,
      toolCallId: row.callId,
      question: row.question,
      options: row.options,
      form: row.form,
      expiresAt: row.expiresAt.toISOString(),
    })),
    // A turn is shown as waiting only if it is parked, that is, no process runs it. Other turns emit no event when
    // their wait ends, so the page would continue to show them as waiting.
    waitingOn: running?.parkedAt ? await readWaitingOn(db, running) : null,
    deliverables: deliverables.toReversed().map((row) => projectDeliverable(row.runId, row)),
    ...(await readVariants(services, session)),
    // For a sub-agent, `reports` and `testRuns` are empty, because they belong to the root session.
    reports: await listReports(db, session.id, { onlyNewest: true }),
    testRuns: (await listTestRuns(db, session.id, { limit: TEST_RUNS })).map(showTestRun),
    ...(await readPlanning(services, session)),
    hasFiles: hasWorkspace(services, session) && session.startupStatus !== "uninitialized",
    imports: (await listImports(db, session.id, { limit: IMPORTS })).map(summarizeImport),
    lastSeq: session.eventSeq,
    // The page gets only this flag and not the link, because the length of a compressed page can reveal a secret in the
    // page (BREACH).
    hasOwnLink: linkId === null && session.parentSessionId === null,
    paths: pathsOf(session.id, pageId),
  };
}

/**
 * Reads the variants, previews and landing pages of a session. A sub-agent has none, because they belong to the root
 * session.
 */
async function readVariants(
  { db, settings }: ApiServices,
  { id, parentSessionId }: SessionRow,
): Promise<Pick<SessionSnapshot, "variants" | "previews" | "pages">> {
  if (parentSessionId !== null) return { variants: [], previews: [], pages: [] };
  return {
    variants: await listVariantFacts(db, id, settings.baseUrl),
    previews: await listPreviews(db, id),
    pages: await listSessionPages(db, id, settings.pagesOrigin),
  };
}

/** Reads the plan and the requirements of a session. A sub-agent has none, because they belong to the root session. */
async function readPlanning(
  { db }: ApiServices,
  { id, parentSessionId }: SessionRow,
): Promise<Pick<SessionSnapshot, "plan" | "requirements">> {
  if (parentSessionId !== null) return { plan: toPlan(undefined), requirements: [] };
  const requirements = (await listRequirementRows(db, id)).map(toRequirement);
  return { plan: toPlan(await findPlan(db, id)), requirements };
}

const toRunView = (run: RunRow): RunView => ({
  runId: run.id,
  requestId: run.requestId,
  attempt: run.attempt,
  origin: run.origin,
  state: run.state,
  error: run.error,
  pageError: run.pageError,
  notBefore: run.notBefore?.toISOString() ?? null,
  startedAt: run.startedAt?.toISOString() ?? null,
  endedAt: run.endedAt?.toISOString() ?? null,
});
