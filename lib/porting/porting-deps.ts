import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ByteLimits } from "#lib/session/byte-limits.ts";
import type { TranscriptReader } from "#lib/session/transcript/transcript.ts";

/** Dependencies for exporting and importing sessions; created once by the container. */
export type PortingDeps = {
  db: Database;
  log: EventLog;
  evidence: Pick<EvidenceStore, "list" | "read">;
  transcript: Pick<TranscriptReader, "list">;
  sandbox: Pick<SandboxService, "open">;
  /** Public origin of the service, without a trailing slash. */
  baseUrl: string;
  /** Public origin of landing pages, without a trailing slash. */
  pagesOrigin: string;
  /** Limits for the imported bytes of a session and of an owner, from `IMPORTS_SESSION_MIB` and `IMPORTS_OWNER_MIB`. */
  importBytes: ByteLimits;
};
