import type { Database } from "#db/client.ts";
import type { ProcessOwner } from "#db/connection-name.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { SandboxService, TestPlace, Workspace } from "#lib/sandbox/sandbox-service.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";

/** The dependencies of test runs. */
export type TestRunsDeps = {
  db: Database;
  log: EventLog;
  logger: Pick<Logger, "warn" | "debug">;
  sandbox: SandboxService;
  browser: Pick<BrowserService, "lease">;
  /** Opens the place where the tests of a lease run, if the lease names a browser host on another machine. */
  openTestPlace: (hostId: string, leaseId: string) => TestPlace;
  evidence: Pick<EvidenceStore, "save">;
  jobs: Pick<JobSender, "sendSoon">;
  /** Identifies this process among the processes that share the database. */
  owner: ProcessOwner;
};

/** The folder in which the tests of a test run run: the workspace of its session, or a copy at a browser host. */
export type TestFolder = Pick<Workspace, "readFile">;
