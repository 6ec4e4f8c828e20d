import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import { removeOldPictures } from "#lib/browser/store/recording-store.ts";
import { removeOldDeliveries } from "#lib/callback/old-delivery-store.ts";
import type { EvidencePosition } from "#lib/evidence/evidence-store.ts";
import { removeOldEvidence } from "#lib/evidence/remove-old-evidence.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import type { RemovalOutcome } from "#lib/session/removal/remove-session.ts";
import { findIdleSessions, type IdleSession } from "#lib/session/store/idle-session-store.ts";
import type { Env } from "./env.ts";

/** The operations of the retention job. Each call of a `remove…` operation removes one batch. */
export type Retention = {
  /**
   * Finds sessions that were not used for longer than the setting allows, at most as many as one run of the job
   * removes.
   */
  findSessions: () => Promise<IdleSession[]>;
  /** Removes a batch of sessions, except sessions that were used in the meantime. @returns how many were removed. */
  removeSessions: (sessions: IdleSession[]) => Promise<number>;
  /**
   * Removes a batch of old evidence that comes after the position `after`; null starts with the oldest. Skips evidence
   * that cannot be removed.
   * @returns the value of `after` for the next batch; null if there is no more evidence.
   */
  removeEvidence: (after: EvidencePosition | null) => Promise<EvidencePosition | null>;
  /** Removes a batch of old deliveries. @returns whether there may be more. */
  removeDeliveries: () => Promise<boolean>;
};

type RetentionDeps = {
  env: Pick<Env, "RETENTION_SESSION_DAYS" | "RETENTION_EVIDENCE_DAYS" | "RETENTION_DELIVERY_DAYS">;
  db: Database;
  dataDir: string | undefined;
  isAlone: boolean;
  remove: (
    sessionId: string,
    ownerId: string,
    actor: string,
    unlessTouchedSince: Date,
  ) => Promise<RemovalOutcome | undefined>;
  securityLog: Pick<SecurityLog, "recordsRemoved" | "erasureFailed">;
  logger: Pick<Logger, "warn">;
};

const ACTOR = "retention";
/** The largest number of sessions that one run of the job removes. The job runs every hour. */
const SESSIONS_MAX = 500;
const EVIDENCE_BATCH = 200;
const PICTURES_BATCH = 200;
const DELIVERIES_BATCH = 1_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Creates the operations that remove old data according to the settings; undefined if the settings keep everything.
 * Source: `security-log.md`, Retention; decision 051.
 */
export function applyRetention(deps: RetentionDeps): Retention | undefined {
  const { env, db, securityLog, logger } = deps;
  const days = {
    sessions: env.RETENTION_SESSION_DAYS,
    evidence: env.RETENTION_EVIDENCE_DAYS,
    deliveries: env.RETENTION_DELIVERY_DAYS,
  };
  if (days.sessions + days.evidence + days.deliveries === 0) return undefined;
  /** Returns the time before which data of this kind is removed; undefined if this kind of data is kept. */
  const cutoff = (kind: keyof typeof days) =>
    days[kind] === 0 ? undefined : new Date(Date.now() - days[kind] * DAY_MS);

  async function removePictures(before: Date): Promise<void> {
    let removed = 0;
    for (let count = PICTURES_BATCH; count === PICTURES_BATCH; removed += count)
      count = await removeOldPictures(db, before, PICTURES_BATCH);
    if (removed > 0) securityLog.recordsRemoved({ actor: ACTOR, records: "pictures", count: removed });
  }

  return {
    async findSessions() {
      const since = cutoff("sessions");
      return since ? findIdleSessions(db, since, SESSIONS_MAX) : [];
    },
    async removeSessions(sessions) {
      const since = cutoff("sessions");
      let removed = 0;
      if (!since) return removed;
      for (const { id, ownerId } of sessions) if (await deps.remove(id, ownerId, ACTOR, since)) removed += 1;
      return removed;
    },
    async removeEvidence(after) {
      const before = cutoff("evidence");
      if (!before) return null;
      const { removed, failed, next } = await removeOldEvidence(deps, {
        before,
        after,
        limit: EVIDENCE_BATCH,
      });
      if (removed > 0) securityLog.recordsRemoved({ actor: ACTOR, records: "evidence", count: removed });
      for (const { id, sessionId, error } of failed) {
        logger.warn({ err: error, sessionId, evidenceId: id }, "old evidence could not be removed");
        securityLog.erasureFailed({ sessionId, left: [`evidence: the file of ${id}`] });
      }
      if (next === null) await removePictures(before);
      // The next run of the job retries the failed removals.
      return next;
    },
    async removeDeliveries() {
      const before = cutoff("deliveries");
      if (!before) return false;
      const removed = await removeOldDeliveries(db, before, DELIVERIES_BATCH);
      if (removed > 0) securityLog.recordsRemoved({ actor: ACTOR, records: "deliveries", count: removed });
      return removed === DELIVERIES_BATCH;
    },
  };
}
