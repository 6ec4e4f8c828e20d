import type { Database } from "#db/client.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { ScriptServer } from "#lib/publication/script-server.ts";
import type { PictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import type { ToolServices } from "#lib/tools/services.ts";

/** Dependencies for storing and showing variants; created once by the container. */
export type VariantsDeps = {
  db: Database;
  log: EventLog;
  browser: Pick<BrowserService, "refreshPageScripts">;
  /** Notifies the other processes that a tree's live browsers show another variant or revision. The message may get lost. */
  notifyShown: (rootSessionId: string) => void;
  publishedScripts: Pick<ScriptServer, "forget">;
  /** Public origin of the service, without a trailing slash: published scripts are served there. */
  baseUrl: string;
};

/** Dependencies of the tools of this room. */
export type VariantToolServices = VariantsDeps &
  Pick<ToolServices, "browser" | "pageTurns" | "evidence"> & {
    compare: PictureComparer;
    /** Origin that will serve published scripts: a page's content policy has to allow it. */
    scriptOrigin: string;
  };
