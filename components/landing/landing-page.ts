import type { SessionSummary } from "#lib/page/state/view-types.ts";

/** What the landing page is drawn from. */
export type LandingPage = {
  signedIn: boolean;
  recent: SessionSummary[];
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};
