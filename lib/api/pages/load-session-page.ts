import { listAnnotations } from "#lib/annotation/list-annotations.ts";
import { findOpenElicitation } from "#lib/session/elicitation-store.ts";
import { listRecentMessages } from "#lib/session/message-store.ts";
import { listQueue } from "#lib/session/queue.ts";
import type { RunRow } from "#lib/session/run-store.ts";
import { listDeliverables, listOpenRuns, listRuns } from "#lib/session/run-store.ts";
import type { ShareAccess } from "#lib/session/share-link.ts";
import { isCompacting, projectDeliverable, projectTurnState } from "#lib/session/status.ts";
import { listReadSteers } from "#lib/session/steering-store.ts";
import type { SessionRow } from "#lib/session/store.ts";
import { findSession } from "#lib/session/store.ts";
import type { AnnotationView, RunView, SessionSnapshot } from "../client/types.ts";
import { readVisit } from "../entrance.ts";
import type { ApiServices } from "../services.ts";
import { readCompactions } from "./read-compactions.ts";
import { readBrowserPosition, readLatestEvents } from "./read-latest-events.ts";
import { readMissingTools } from "./read-missing-tools.ts";
import { readToolCalls } from "./read-tool-calls.ts";

const RUNS = 50;
const MESSAGES = 200;
const ANNOTATIONS = 50;
const DELIVERABLES = 20;

/** The data that the session page starts from; live events update it. Undefined for a visitor without access. */
export async function loadSessionPage(
  services: ApiServices,
  sessionId: string,
  cookieHeader: string | null,
): Promise<SessionSnapshot | undefined> {
  const access = await readVisit(services, sessionId, cookieHeader, false);
  // The session row first: an event that is stored while the rest is read arrives again, and applying it twice is harmless.
  const session = access && (await findSession(services.db, sessionId));
  return session && access ? takeSnapshot(services, session, access) : undefined;
}

/** The same for the page of the live view, which a visitor of `liveViewUrl` gets without the rest of the session. */
export async function loadLivePage(
  services: ApiServices,
  sessionId: string,
  cookieHeader: string | null,
): Promise<SessionSnapshot | undefined> {
  const access = await readVisit(services, sessionId, cookieHeader, true);
  const session = access && (await findSession(services.db, sessionId));
  if (!session || !access) return undefined;
  return access.scope === "session"
    ? takeSnapshot(services, session, access)
    : takeLiveViewSnapshot(services, session, access);
}

/** The browser's status only: a `liveViewUrl` shows nothing else of its session. */
async function takeLiveViewSnapshot(
  services: ApiServices,
  session: SessionRow,
  { role }: ShareAccess,
): Promise<SessionSnapshot> {
  return {
    session: {
      ...{ id: session.id, title: "this session", source: session.source },
      createdAt: session.createdAt.toISOString(),
      ...{ targetUrl: null, isStructured: false, outputSchema: null },
      hasBrowser: session.capabilities.browser,
    },
    role,
    model: services.settings.model,
    turnState: "idle",
    ...{ runs: [], messages: [], hasEarlier: false, toolCalls: [], compactions: [], missingTools: [] },
    ...{ queue: [], steers: [], annotations: [], elicitation: null, deliverables: [] },
    ...(await readBrowserState(services, session)),
    lastSeq: session.eventSeq,
    paths: { ...pathsOf(session.id), share: null },
  };
}

const pathsOf = (sessionId: string) => ({
  live: `/api/sessions/${sessionId}/live`,
  actions: `/s/${sessionId}/actions`,
  artifacts: `/api/sessions/${sessionId}/artifacts`,
  messages: `/api/sessions/${sessionId}/messages`,
  picture: `/api/sessions/${sessionId}/live/picture`,
});

/** The browser's state: its status, the session's place in line, and the picture to show while no browser runs. */
async function readBrowserState({ browser, log }: ApiServices, { id, eventSeq }: SessionRow) {
  const status = await browser.readStatus(id);
  const pictureTakenAt = await browser.readPictureTime(id);
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
): Promise<SessionSnapshot> {
  const { db } = services;
  const runs = (await listRuns(db, session.id, RUNS)).toReversed();
  // One more than is shown tells whether there are earlier ones.
  const messages = await listRecentMessages(db, session.id, MESSAGES + 1);
  const annotations = await listAnnotations(db, session.id, { limit: ANNOTATIONS });
  const deliverables = await listDeliverables(db, session.id, DELIVERABLES);
  const question = await findOpenElicitation(db, session.id);
  const open = await listOpenRuns(db, session.id);
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
      hasBrowser: session.capabilities.browser,
    },
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
    compactions: readCompactions(events),
    missingTools: readMissingTools(events),
    queue: await listQueue(db, session.id),
    steers: await listReadSteers(db, session.id),
    ...(await readBrowserState(services, session)),
    // Stored as submitted, and validated then.
    annotations: annotations.data.toReversed() as AnnotationView[],
    elicitation: question
      ? {
          elicitationId: question.id,
          toolCallId: question.callId,
          question: question.question,
          options: question.options,
        }
      : null,
    deliverables: deliverables.toReversed().map((row) => projectDeliverable(row.runId, row)),
    lastSeq: session.eventSeq,
    paths: {
      ...pathsOf(session.id),
      // A visitor of a created link gets no link that would outlive its revocation or expiry.
      share: linkId === null ? services.shares.sharePath(session.id, session.shareRevocation, role) : null,
    },
  };
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
