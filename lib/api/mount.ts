import type { SessionSnapshot, SessionSummary } from "./client/types.ts";

/** What the landing page is drawn from. */
export type LandingPage = {
  signedIn: boolean;
  recent: SessionSummary[];
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/** What the server process offers to the pages. */
type PageLoader = {
  loadSessionPage: (sessionId: string, cookieHeader: string | null) => Promise<SessionSnapshot | undefined>;
  loadLandingPage: (cookieHeader: string | null) => Promise<LandingPage>;
};

const CONTAINER = Symbol.for("agent-session-service");

function container(): PageLoader {
  const found = (globalThis as { [CONTAINER]?: PageLoader })[CONTAINER];
  if (!found) throw new Error("the service's container is missing: pages are served by lib/server/main.ts");
  return found;
}

/** The session as the holder of this cookie may see it; undefined where there is none, or none for them. */
export const loadSessionPage: PageLoader["loadSessionPage"] = (sessionId, cookieHeader) =>
  container().loadSessionPage(sessionId, cookieHeader);

/** The landing page as the holder of this cookie may see it. */
export const loadLandingPage: PageLoader["loadLandingPage"] = (cookieHeader) =>
  container().loadLandingPage(cookieHeader);
