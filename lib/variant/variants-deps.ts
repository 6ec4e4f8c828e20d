import type { Database } from "#db/client.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { ScriptServer } from "#lib/publication/script-server.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import type { VariantPages } from "./variant-pages.ts";

/** Dependencies for storing and showing variants; created once by the container. */
export type VariantsDeps = {
  db: Database;
  log: EventLog;
  browser: Pick<BrowserService, "refreshPageScripts">;
  /** The work on live pages. */
  pages: VariantPages;
  /**
   * Tells the other processes that the live browsers of a root session and its sub-agents must show another variant or
   * revision. A message may get lost.
   */
  notifyShown: (rootSessionId: string) => void;
  publishedScripts: Pick<ScriptServer, "forget">;
  /** Public origin of the service, without a trailing slash. Published scripts are served from this origin. */
  baseUrl: string;
};

/** Dependencies of the tools in the subfolder `tools`. */
export type VariantToolServices = VariantsDeps & {
  /** Whether this deployment has a browser. */
  hasBrowsers: boolean;
  /** Acquires the browser and the page for a call. */
  hold: PageTools["hold"];
};
