import type { Login, ReportPage, SessionSnapshot, SessionSummary } from "#lib/page/state/view-types.ts";
import { listSessions } from "#lib/session/list/list-store.ts";
import { LOCAL_OWNER } from "../auth/admit-caller.ts";
import { OIDC_PATH } from "../auth/oidc-entrance.ts";
import { summarise } from "../operations/lists.ts";
import { describeLogins } from "../operations/logins.ts";
import type { ApiServices } from "../services.ts";

/** What the landing page is drawn from. */
export type LandingPage = {
  signedIn: boolean;
  /** Browsers that are signed in; empty for visitors who are not. */
  logins: Login[];
  /** Where a sign-in with the identity provider begins; null where none is set up. */
  oidcPath: string | null;
  recent: SessionSummary[];
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/** What the pages ask the server process for. */
export type PageLoaders = {
  /** The session, or a sub-agent below it, as the holder of this cookie may see it; undefined without access. */
  loadSessionPage: (
    sessionId: string,
    cookieHeader: string | null,
    agentId?: string,
  ) => Promise<SessionSnapshot | undefined>;
  /** The session's live view as the holder of this cookie may see it, undefined without access. */
  loadLivePage: (sessionId: string, cookieHeader: string | null) => Promise<SessionSnapshot | undefined>;
  /** A report of the session as the holder of this cookie may see it; undefined without access. */
  loadReportPage: (
    sessionId: string,
    reportId: string,
    cookieHeader: string | null,
  ) => Promise<ReportPage | undefined>;
  loadLandingPage: (cookieHeader: string | null) => Promise<LandingPage>;
};

const RECENT = 20;

/** What the landing page shows to the holder of this cookie. */
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
