import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import {
  countSealedWithOtherKey,
  listSealedWithOtherKey,
  listSessionsWithQueries,
  replaceSealed,
  type SealedRow,
  sealUrls,
} from "../store/secret-store.ts";
import { placeSecret } from "./secret-names.ts";
import { splitUrls } from "./split-secrets.ts";

/** The outcome of one call of {@link resealSecrets}, which processes a part of the secrets. */
type ResealOutcome = {
  /** Number of values that this call sealed with the current key. */
  resealed: number;
  /** Number of values that no configured key can open. They are not changed. */
  unreadable: number;
  /** Number of sealed values in the whole database that do not begin with the prefix of the current key. */
  remaining: number;
  /** Where the next call continues; null if all secrets have been processed. */
  nextCursor: string | null;
};

/** A call ends after this time, so that it fits into one HTTP request. */
const PART_MS = 5_000;
/** Maximum number of rows in a batch. It limits how many rows a statement locks at the same time. */
const BATCH = 200;

/**
 * A position in the sequence of all URLs (`urls`) and then all sealed secrets. As a cursor: `<table>/<session>/<name>`.
 */
type Position = { table: "urls" | "secrets"; sessionId: string; name: string };
const START: Position = { table: "urls", sessionId: "", name: "" };

/**
 * Seals stored secrets again with the current key, and seals tokens in URLs of sessions that were created before URLs
 * were sealed. It works in batches and replaces only values that have not changed since they were read. Repeated and
 * concurrent calls are safe.
 *
 * @param cursor `nextCursor` of the previous call; undefined for the first call.
 */
export async function resealSecrets(
  deps: { db: Database; sealer: Sealer },
  cursor?: string,
  { partMs = PART_MS, batch = BATCH } = {},
): Promise<ResealOutcome> {
  const endsAt = performance.now() + partMs;
  const outcome = { resealed: 0, unreadable: 0 };
  let position: Position | null = cursor === undefined ? START : readCursor(cursor);
  do {
    const step = position.table === "urls" ? sealUrlBatch : resealBatch;
    const done: BatchOutcome = await step(deps, position, batch);
    outcome.resealed += done.resealed;
    outcome.unreadable += done.unreadable;
    position = done.next;
  } while (position !== null && performance.now() < endsAt);
  const remaining = await countSealedWithOtherKey(deps.db, deps.sealer.currentPrefix);
  return { ...outcome, remaining, nextCursor: position && writeCursor(position) };
}

type BatchOutcome = { resealed: number; unreadable: number; next: Position | null };

async function sealUrlBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  { sessionId }: Position,
  batch: number,
): Promise<BatchOutcome> {
  const rows = await listSessionsWithQueries(db, sessionId, batch);
  let resealed = 0;
  for (const row of rows) {
    const { secrets, ...masked } = splitUrls(row);
    if (secrets.length === 0) continue;
    const sealed = secrets.map(({ name, text }) => ({
      name,
      sealed: sealer.seal(placeSecret(row.sessionId, name), text),
    }));
    if (await repeatOnDeadlock(() => sealUrls(db, row, masked, sealed))) resealed += sealed.length;
  }
  const last = rows.at(-1);
  const next: Position =
    last && rows.length === batch
      ? { table: "urls", sessionId: last.sessionId, name: "" }
      : { table: "secrets", sessionId: "", name: "" };
  return { resealed, unreadable: 0, next };
}

async function resealBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  after: Position,
  batch: number,
): Promise<BatchOutcome> {
  const rows = await listSealedWithOtherKey(db, sealer.currentPrefix, after, batch);
  const opened = rows.flatMap((row) => {
    const resealed = reseal(sealer, row);
    return resealed === undefined ? [] : [{ ...row, resealed }];
  });
  const resealed = await repeatOnDeadlock(() => replaceSealed(db, opened));
  const last = rows.at(-1);
  const next: Position | null =
    last && rows.length === batch ? { table: "secrets", sessionId: last.sessionId, name: last.name } : null;
  return { resealed, unreadable: rows.length - opened.length, next };
}

/** Seals a secret with the current key; undefined if no configured key can open it. */
function reseal(sealer: Sealer, { sessionId, name, sealed }: SealedRow): string | undefined {
  const place = placeSecret(sessionId, name);
  let text: string;
  try {
    text = sealer.open(place, sealed);
  } catch {
    return undefined;
  }
  return sealer.seal(place, text);
}

const writeCursor = ({ table, sessionId, name }: Position): string => `${table}/${sessionId}/${name}`;

/** Parses a cursor. Every text is accepted, because an invalid cursor only makes the call start at another position. */
function readCursor(cursor: string): Position {
  const [table = "", sessionId = "", ...name] = cursor.split("/");
  return { table: table === "secrets" ? "secrets" : "urls", sessionId, name: name.join("/") };
}
