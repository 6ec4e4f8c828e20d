import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { Login, ReportPage, SessionSummary } from "#lib/page/state/view-types.ts";
import { listSessions } from "#lib/session/list/list-store.ts";
import { LOCAL_OWNER } from "../auth/admit-caller.ts";
import { OIDC_PATH } from "../auth/oidc-sign-in.ts";
import { summarise } from "../handlers/list-handlers.ts";
import { describeLogins } from "../handlers/login-handlers.ts";
import type { ApiServices } from "../handlers/services.ts";

/** The data of the service's own landing page, where the operator signs in. */
export type LandingPage = {
  signedIn: boolean;
  /** Browsers that are signed in. Empty if the visitor is not signed in. */
  logins: Login[];
  /** The path at which a sign-in with the identity provider begins. Null if no provider is configured. */
  oidcPath: string | null;
  recent: SessionSummary[];
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

const RECENT = 20;

/** @see PageLoaders */
export async function loadLandingPage(
  services: ApiServices,
  cookieHeader: string | null,
): Promise<LandingPage> {
  const { baseUrl, model } = services.settings;
  const login = await services.login.readLogin(cookieHeader);
  const signedIn = login !== undefined;
  const rows = signedIn ? await listSessions(services.db, LOCAL_OWNER, { limit: RECENT }) : [];
  const recent = await summarise(services, rows, "drive");
  const logins = login ? describeLogins(await services.logins.list(), login.id) : [];
  const oidcPath = services.oidc ? OIDC_PATH.start : null;
  return { signedIn, logins, oidcPath, recent, model, demoUrl: `${baseUrl}/demo`, baseUrl };
}
