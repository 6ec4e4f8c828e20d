import type { Database, Transaction } from "./client.ts";

/**
 * Runs several reading statements on one snapshot of the database, so that their results fit together: none of them
 * sees a change that another one does not see. The statements must not write.
 */
export const readSnapshot = <Result>(
  db: Database,
  read: (tx: Transaction) => Promise<Result>,
): Promise<Result> => db.transaction(read, { isolationLevel: "repeatable read", accessMode: "read only" });
