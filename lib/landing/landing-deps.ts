import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { PageServer } from "#lib/publication/landing/page-server.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ByteLimits } from "#lib/session/byte-limits.ts";

/** Dependencies for storing and changing pages; created once by the container. */
export type LandingDeps = {
  db: Database;
  log: EventLog;
  servedPages: Pick<PageServer, "forget">;
  /**
   * Public origin of landing pages, without a trailing slash: `PUBLIC_PAGES_ORIGIN`, or the origin of the service by
   * default.
   */
  pagesOrigin: string;
  /** Limits for the stored bytes of a session and of an owner, from `PAGES_SESSION_MIB` and `PAGES_OWNER_MIB`. */
  pageBytes: ByteLimits;
};

/** Dependencies of `deploy_landing_page`. */
export type LandingToolServices = LandingDeps & { sandbox: Pick<SandboxService, "open"> };
