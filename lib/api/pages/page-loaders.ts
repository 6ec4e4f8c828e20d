import type { SessionSnapshot, SessionSummary } from "../client/types.ts";

/** What the landing page is drawn from. */
export type LandingPage = {
  signedIn: boolean;
  recent: SessionSummary[];
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/** What the pages ask the server process for. */
export type PageLoaders = {
  /** The session as the holder of this cookie may see it; undefined where there is none, or none for them. */
  loadSessionPage: (sessionId: string, cookieHeader: string | null) => Promise<SessionSnapshot | undefined>;
  /** The session's live view as the holder of this cookie may see it, undefined without access. */
  loadLivePage: (sessionId: string, cookieHeader: string | null) => Promise<SessionSnapshot | undefined>;
  loadLandingPage: (cookieHeader: string | null) => Promise<LandingPage>;
};
