import type { KeyScope } from "#lib/keys/key-scopes.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { Login, ReportPage, SessionSummary } from "#lib/page/state/view-types.ts";
import { callerOf } from "../auth/admit-caller.ts";
import { type Caller, refuseScope } from "../auth/authenticate.ts";
import { OIDC_PATH } from "../auth/oidc-sign-in.ts";
import { readFirstPage } from "../handlers/list-handlers.ts";
import { describeLogins } from "../handlers/login-handlers.ts";
import type { ApiServices } from "../handlers/services.ts";

/** The data of the service's own landing page, where the operator signs in. */
export type LandingPage = {
  /** Who is signed in: the operator, or a person with an API key. Null for a visitor who is not signed in. */
  person: { kind: "operator" } | { kind: "key"; ownerId: string; access: "write" | "read" | "none" } | null;
  /** Browsers that are signed in. Empty if the operator is not signed in. */
  logins: Login[];
  /** The path at which a sign-in with the identity provider begins. Null if no provider is configured. */
  oidcPath: string | null;
  /** The first page of the person's sessions, newest first, and the cursor of the next page. */
  sessions: { data: SessionSummary[]; nextCursor: string | null };
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/**
 * Functions that load the data of the pages. `cookieHeader` is the visitor's `Cookie` header; it determines what the
 * visitor may see.
 */
export type PageLoaders = {
  /**
   * Loads the page of a session or of the sub-agent `agentId` below it. Undefined for a visitor without access, and for
   * an unknown sub-agent.
   */
  loadSessionPage: (
    sessionId: string,
    cookieHeader: string | null,
    agentId?: string,
  ) => Promise<SessionSnapshot | undefined>;
  /** Loads the page of a session's live view. Undefined for a visitor without access. */
  loadLivePage: (sessionId: string, cookieHeader: string | null) => Promise<SessionSnapshot | undefined>;
  /** Loads the page of a report. Undefined for a visitor without access, and for an unknown report. */
  loadReportPage: (
    sessionId: string,
    reportId: string,
    cookieHeader: string | null,
  ) => Promise<ReportPage | undefined>;
  loadLandingPage: (cookieHeader: string | null) => Promise<LandingPage>;
};

const FIRST_PAGE = 20;

/** @see PageLoaders */
export async function loadLandingPage(
  services: ApiServices,
  cookieHeader: string | null,
): Promise<LandingPage> {
  const { baseUrl, model } = services.settings;
  const login = await services.login.readLogin(cookieHeader);
  const caller = login && callerOf(login);
  // A key may have lost the scope for reading since its holder signed in.
  const mayRead = caller !== undefined && refuseScope(caller, "sessions:read") === undefined;
  const sessions = mayRead
    ? await readFirstPage(services, caller, FIRST_PAGE)
    : { data: [], nextCursor: null };
  const logins = login && !login.key ? describeLogins(await services.logins.list(), login.id) : [];
  const oidcPath = services.oidc ? OIDC_PATH.start : null;
  const person = login && caller ? describePerson(login, caller) : null;
  return { person, logins, oidcPath, sessions, model, demoUrl: `${baseUrl}/demo`, baseUrl };
}

function describePerson({ key }: { key: unknown }, caller: Caller): LandingPage["person"] {
  if (!key) return { kind: "operator" };
  const has = (scope: KeyScope) => refuseScope(caller, scope) === undefined;
  // Without the scope for reading, the page has nothing to show, so the one for writing is of no use on it.
  const access = !has("sessions:read") ? "none" : has("sessions:write") ? "write" : "read";
  return { kind: "key", ownerId: caller.ownerId, access };
}
