import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import type { SeenText } from "./find/receipt.ts";
import { type FoundReceipts, findInThread, type ThreadJob } from "./find-in-thread.ts";
import {
  findOpen,
  listCitations,
  listPictures,
  listTexts,
  type OpenReceipts,
  readTexts,
  requeueLostReceipts,
  storeReceipts,
  type TextPlace,
} from "./receipts-store.ts";

type ReceiptsDeps = { db: Database; log: EventLog };

/** Maximum size of the texts in which the values of one deliverable are looked up. */
const TEXT_BYTES_MAX = 32 * 1_048_576;
const TEXTS_MAX = 10_000;
/** Texts are read in batches of about this size, so that the main thread never handles much at once. */
const BATCH_BYTES = 512 * 1_024;
const BATCH_TEXTS = 200;
const LOST_AFTER_MS = 120_000;

/**
 * Makes the receipts of a run's deliverable: looks up its values in what the session saw, in a worker thread, and stores
 * the result together with the event `deliverable.receipts`. Does nothing if they are made already. Source: `wire.md`,
 * Receipts; decision 144.
 */
async function makeReceipts({ db, log }: ReceiptsDeps, runId: string): Promise<{ made: boolean }> {
  const open = await findOpen(db, runId);
  if (!open) return { made: false };
  const { sessionId, source, value, schema } = open;
  const found = await lookUp(db, open);
  // A thread without texts leaves all values unchecked.
  const { list, counts } = found ?? (await lookUpNothing({ value, schema }));
  const made = await log.transact(sessionId, async (tx, emit) => {
    const isNew = await storeReceipts(tx, runId, list);
    // Nothing of a run comes after its end, so the event belongs to the session.
    if (isNew)
      emit({
        kind: "deliverable.receipts",
        requestId: null,
        runId: null,
        source,
        resultRunId: runId,
        counts,
      });
    return isNew;
  });
  return { made };
}

async function lookUp(db: Database, open: OpenReceipts): Promise<FoundReceipts | undefined> {
  const { sessionId, value, schema, endedAt } = open;
  const listed = await listTexts(db, sessionId, endedAt);
  const { chosen, isWhole } = choose(listed);
  const [citations, pictures] = await Promise.all([
    listCitations(db, sessionId),
    listPictures(db, sessionId),
  ]);
  return findInThread(read(db, sessionId, chosen), {
    value,
    schema,
    citations,
    pictures: [...pictures],
    isWhole,
  });
}

async function lookUpNothing(of: Pick<ThreadJob, "value" | "schema">): Promise<FoundReceipts> {
  const nothing = (async function* () {})();
  const found = await findInThread(nothing, { ...of, citations: [], pictures: [], isWhole: false });
  if (!found) throw new Error("the values of a deliverable could not be listed");
  return found;
}

/** Chooses the newest texts that fit, each text once. */
function choose(listed: TextPlace[]): { chosen: TextPlace[]; isWhole: boolean } {
  const hashes = new Set<string>();
  const chosen: TextPlace[] = [];
  let bytes = 0;
  for (const place of listed) {
    // What a script returned counts only with the script, so such texts are not the same.
    if (!place.isEchoing && hashes.has(place.hash)) continue;
    if (bytes + place.bytes > TEXT_BYTES_MAX || chosen.length === TEXTS_MAX)
      return { chosen, isWhole: false };
    hashes.add(place.hash);
    chosen.push(place);
    bytes += place.bytes;
  }
  return { chosen, isWhole: true };
}

async function* read(db: Database, sessionId: string, places: TextPlace[]): AsyncGenerator<SeenText[]> {
  for (const batch of cutBatches(places)) {
    const kind = batch[0]?.kind ?? "result";
    const texts = new Map(
      (
        await readTexts(
          db,
          kind,
          batch.map(({ place }) => place),
        )
      ).map((text) => [text.place, text]),
    );
    yield batch.flatMap((place): SeenText[] => {
      const text = texts.get(place.place);
      if (!text) return [];
      return [
        {
          text: text.text,
          seq: place.seq,
          url: place.url,
          ...(place.picture !== null && { picture: place.picture }),
          ...(place.sessionId !== sessionId && { sessionId: place.sessionId }),
          ...(text.authored !== null && { authored: text.authored }),
        },
      ];
    });
  }
}

/** Cuts the places into batches of one kind, each of a bounded size. */
function cutBatches(places: TextPlace[]): TextPlace[][] {
  const batches: TextPlace[][] = [];
  for (const { kind } of [{ kind: "result" }, { kind: "look" }, { kind: "message" }]) {
    let bytes = 0;
    let batch: TextPlace[] = [];
    for (const place of places.filter((each) => each.kind === kind)) {
      if (batch.length === 0 || bytes + place.bytes > BATCH_BYTES || batch.length === BATCH_TEXTS) {
        batch = [];
        batches.push(batch);
        bytes = 0;
      }
      batch.push(place);
      bytes += place.bytes;
    }
  }
  return batches;
}

/** Makes receipts in this process, and finds those whose jobs were lost. */
type ReceiptsService = {
  make: (runId: string) => Promise<{ made: boolean }>;
  /** Stores new jobs for receipts whose jobs the engine has lost. @returns the jobs to send. */
  requeueLost: () => Promise<Job[]>;
};

/** @see ReceiptsService */
export const createReceiptsService = (deps: ReceiptsDeps): ReceiptsService => ({
  make: (runId) => makeReceipts(deps, runId),
  requeueLost: () => requeueLostReceipts(deps.db, LOST_AFTER_MS),
});
