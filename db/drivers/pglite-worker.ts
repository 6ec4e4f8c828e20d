import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { type ArrayType, createExec } from "./pglite-port.ts";

// The entry of the database's thread: the only one that touches its files. Each message is carried out in its turn and
// has one answer; the first answer is for none.

/** What the thread is asked for. */
export type PgliteJob = Uint8Array<ArrayBuffer> | "close";

/** What it answers. */
export type PgliteAnswer =
  | ArrayBuffer
  | { kind: "open"; arrays: ArrayType[] }
  | { kind: "failed"; message: string };

const answer = (value: PgliteAnswer) =>
  parentPort?.postMessage(value, value instanceof ArrayBuffer ? [value] : []);

const fail = (error: unknown) =>
  answer({ kind: "failed", message: error instanceof Error ? error.message : String(error) });

async function serve(folder: string): Promise<void> {
  const pg = await PGlite.create(folder);
  const exec = createExec(pg);
  parentPort?.on("message", (job: PgliteJob) => {
    if (job !== "close") return exec(job).then(answer, fail);
    return pg.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  const arrays = await pg.query<ArrayType>(
    "select oid, typarray from pg_type where typarray <> 0 order by oid",
  );
  answer({ kind: "open", arrays: arrays.rows });
}

serve((workerData as { folder: string }).folder).catch(fail);
