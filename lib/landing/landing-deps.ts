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
  /** Public origin of pages, without a trailing slash: `PUBLIC_PAGES_ORIGIN`, or that of the service. */
  pagesOrigin: string;
  /** `PAGES_SESSION_MIB` and `PAGES_OWNER_MIB`, in bytes. */
  pageBytes: ByteLimits;
};

/** Dependencies of the tool. */
export type LandingToolServices = LandingDeps & { sandbox: Pick<SandboxService, "open"> };
