import type { Inngest } from "inngest";

type Session = { id: string; ownerId: string };

/** The last piece of evidence in a batch. Evidence is ordered by creation, and the next batch begins after this piece. */
type EvidencePosition = { createdAt: string; id: string };

/** Finds and removes data that is older than the settings allow. */
type Retention = {
  findSessions: () => Promise<Session[]>;
  removeSessions: (sessions: Session[]) => Promise<number>;
  removeEvidence: (after: EvidencePosition | null) => Promise<EvidencePosition | null>;
  removeDeliveries: () => Promise<boolean>;
};

const SESSIONS_BATCH = 25;
/** Maximum number of batches of evidence, and of batches of deliveries, in one run. */
const BATCHES_MAX = 50;

/**
 * Removes data that is older than the settings allow, every hour. Each batch is a step: after a crash, the run repeats
 * the interrupted batch, which removes the rest of its data.
 */
export const createApplyRetention = (client: Inngest, retention: Retention) =>
  client.createFunction(
    { id: "apply-retention", triggers: { cron: "17 * * * *" }, retries: 3 },
    async ({ step }) => {
      const idle = await step.run("find-sessions", retention.findSessions);
      let sessions = 0;
      for (let from = 0; from < idle.length; from += SESSIONS_BATCH) {
        const batch = idle.slice(from, from + SESSIONS_BATCH);
        sessions += await step.run(`remove-sessions-${from}`, () => retention.removeSessions(batch));
      }
      let position: EvidencePosition | null = null;
      for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
        const after: EvidencePosition | null = position;
        position = await step.run(`remove-evidence-${batch}`, () => retention.removeEvidence(after));
        if (position === null) break;
      }
      for (let batch = 0; batch < BATCHES_MAX; batch += 1)
        if (!(await step.run(`remove-deliveries-${batch}`, retention.removeDeliveries))) break;
      return { sessions };
    },
  );
