import type { Database, Executor } from "#db/client.ts";
import { createLane } from "#db/create-lane.ts";
import { prepareOnce } from "#db/statement.ts";
import { isConnectionLost } from "#db/unavailability.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { type ComposedWrite, composeWrite, writeRuns } from "./step-store.ts";
import type { Fence, TurnWrite, WriteReceipt } from "./turn-write.ts";

/** A write of more characters is a statement of its own, so that small writes do not wait for it. */
const TOGETHER_CHARS_MAX = 64 * 1024;

/** Whether a write was written, and its receipt. */
type Outcome = { receipt: WriteReceipt | undefined };

const writeAlone = async (db: Executor, write: ComposedWrite): Promise<Outcome> => ({
  receipt: (await writeRuns(db, [write])).get(write.claim.runId),
});

/** The lane of a database, in which writes of different runs share statements. */
const laneOf = prepareOnce((db: Database) =>
  createLane<ComposedWrite, Outcome>({
    keyOf: ({ claim }) => claim.sessionId,
    async writeTogether(writes) {
      const receipts = await writeRuns(db, writes, { skipsLocked: true });
      if (writes.length > 1) await faultPoint("writes-shared");
      return new Map(
        writes.flatMap(({ claim }) => {
          const receipt = receipts.get(claim.runId);
          return receipt ? [[claim.sessionId, { receipt }] as const] : [];
        }),
      );
    },
    writeAlone: (write) => writeAlone(db, write),
    isOutcomeUnknown: isConnectionLost,
  }),
);

/**
 * Writes everything of a step or an end, or nothing. To end a run with another fence than `alone`, `db` must be a
 * transaction that holds the locks of the run and the session. Outside a transaction, the write may share its statement
 * with writes of other runs (decision 150).
 *
 * @returns undefined if nothing was written: the fence did not hold, or a message that joined the turn is unread and
 * the write does not allow this (`unlessSteered`).
 */
export async function writeTurn(
  db: Executor,
  claim: ComposedWrite["claim"],
  write: TurnWrite,
  fence: Fence = "claimed",
): Promise<WriteReceipt | undefined> {
  const composed = composeWrite(claim, write, fence);
  const isAlone = "rollback" in db || composed.size > TOGETHER_CHARS_MAX;
  const { receipt } = await (isAlone ? writeAlone(db, composed) : laneOf(db)(composed));
  return receipt;
}
