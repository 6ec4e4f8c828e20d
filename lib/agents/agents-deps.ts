import type { Database } from "#db/client.ts";
import type { SchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";
import type { DelegationLimits } from "./admission.ts";

/** What delegation works with; made once by the container. */
export type AgentsDeps = {
  db: Database;
  log: EventLog;
  sealer: Sealer;
  jobs: Pick<JobSender, "sendSoon">;
  schemas: Pick<SchemaChecker, "admitSchema" | "validateValue">;
  /** Stops a run, by whatever state it is in. */
  stopRun: (runId: string) => Promise<void>;
  limits: DelegationLimits;
};
