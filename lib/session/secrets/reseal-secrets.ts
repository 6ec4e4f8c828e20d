import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import {
  countSealedWithOtherKey,
  listSealedWithOtherKey,
  listSessionsWithQueries,
  replaceSealed,
  type SealedRow,
  type SealedTable,
  sealUrls,
} from "../store/secret-store.ts";
import { placeSecret, placeSiteData } from "./secret-names.ts";
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
/** The same for site data, whose rows have up to 7 MB each. */
const SITE_DATA_BATCH = 4;

/**
 * A position in the sequence of all URLs (`urls`), all sealed secrets, and all site data. As a cursor:
 * `<table>/<session>/<name>`.
 */
type Position = { table: "urls" | SealedTable; sessionId: string; name: string };
const START: Position = { table: "urls", sessionId: "", name: "" };
/** The table that follows a table in the sequence. */
const NEXT_TABLE = { urls: "secrets", secrets: "siteData", siteData: undefined } as const;
const PLACES = { secrets: placeSecret, siteData: placeSiteData };

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
    const done: BatchOutcome = await processBatch(deps, position, batch);
    outcome.resealed += done.resealed;
    outcome.unreadable += done.unreadable;
    position = done.next;
  } while (position !== null && performance.now() < endsAt);
  const remaining = await countSealedWithOtherKey(deps.db, deps.sealer.currentPrefix);
  return { ...outcome, remaining, nextCursor: position && writeCursor(position) };
}

const processBatch = (
  deps: { db: Database; sealer: Sealer },
  { table, ...after }: Position,
  batch: number,
): Promise<BatchOutcome> =>
  table === "urls" ? sealUrlBatch(deps, after, batch) : resealBatch(deps, table, after, batch);

type BatchOutcome = { resealed: number; unreadable: number; next: Position | null };

async function sealUrlBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  { sessionId }: { sessionId: string },
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
  const last = rows.length === batch ? rows.at(-1) : undefined;
  return { resealed, unreadable: 0, next: positionAfter("urls", last && { ...last, name: "" }) };
}

async function resealBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  table: SealedTable,
  after: Omit<Position, "table">,
  batch: number,
): Promise<BatchOutcome> {
  const limit = table === "siteData" ? Math.min(batch, SITE_DATA_BATCH) : batch;
  const rows = await listSealedWithOtherKey(db, table, sealer.currentPrefix, after, limit);
  const opened = rows.flatMap((row) => {
    const resealed = reseal(sealer, table, row);
    return resealed === undefined ? [] : [{ ...row, resealed }];
  });
  const resealed = await repeatOnDeadlock(() => replaceSealed(db, table, opened));
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { resealed, unreadable: rows.length - opened.length, next: positionAfter(table, last) };
}

/** Returns where the sequence continues after the last row of a full batch. Without one, the next table begins. */
function positionAfter(table: Position["table"], last: Omit<Position, "table"> | undefined): Position | null {
  if (last) return { table, sessionId: last.sessionId, name: last.name };
  const next = NEXT_TABLE[table];
  return next === undefined ? null : { table: next, sessionId: "", name: "" };
}

/** Seals a value with the current key; undefined if no configured key can open it. */
function reseal(
  sealer: Sealer,
  table: SealedTable,
  { sessionId, name, sealed }: SealedRow,
): string | undefined {
  const place = PLACES[table](sessionId, name);
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
  const isTable = (text: string): text is SealedTable => text === "secrets" || text === "siteData";
  return { table: isTable(table) ? table : "urls", sessionId, name: name.join("/") };
}
