import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Sealer, SecretPlace } from "#lib/secrets/sealer.ts";
import {
  countSealedWithOtherKey,
  listSealedWithOtherKey,
  listSessionsWithQueries,
  replaceSealed,
  type SealedColumn,
  type SealedRow,
  sealUrls,
} from "../store/secret-store.ts";
import { placeHostToken, placeSecret, placeSiteData } from "./secret-names.ts";
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

/** What a call processes, in this order: the URLs of sessions, and then the columns with sealed values. */
const SEQUENCE = ["urls", "secrets", "siteData", "hosts"] as const satisfies ("urls" | SealedColumn)[];

/** A position in the sequence. As a cursor: `<part>/<owner>/<name>`. */
type Position = { part: (typeof SEQUENCE)[number]; owner: string; name: string };
const START: Position = { part: "urls", owner: "", name: "" };
const PLACES: Record<SealedColumn, (owner: string, name: string) => SecretPlace> = {
  secrets: placeSecret,
  siteData: placeSiteData,
  hosts: placeHostToken,
};

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
  { part, ...after }: Position,
  batch: number,
): Promise<BatchOutcome> =>
  part === "urls" ? sealUrlBatch(deps, after.owner, batch) : resealBatch(deps, part, after, batch);

type BatchOutcome = { resealed: number; unreadable: number; next: Position | null };

async function sealUrlBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  after: string,
  batch: number,
): Promise<BatchOutcome> {
  const rows = await listSessionsWithQueries(db, after, batch);
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
  return {
    resealed,
    unreadable: 0,
    next: positionAfter("urls", last && { owner: last.sessionId, name: "" }),
  };
}

async function resealBatch(
  { db, sealer }: { db: Database; sealer: Sealer },
  column: SealedColumn,
  after: Omit<Position, "part">,
  batch: number,
): Promise<BatchOutcome> {
  const limit = column === "siteData" ? Math.min(batch, SITE_DATA_BATCH) : batch;
  const rows = await listSealedWithOtherKey(db, column, sealer.currentPrefix, after, limit);
  const opened = rows.flatMap((row) => {
    const resealed = reseal(sealer, column, row);
    return resealed === undefined ? [] : [{ ...row, resealed }];
  });
  const resealed = await repeatOnDeadlock(() => replaceSealed(db, column, opened));
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { resealed, unreadable: rows.length - opened.length, next: positionAfter(column, last) };
}

/** Returns where the sequence continues after the last row of a full batch. Without one, the next part begins. */
function positionAfter(part: Position["part"], last: Omit<Position, "part"> | undefined): Position | null {
  if (last) return { part, owner: last.owner, name: last.name };
  const next = SEQUENCE[SEQUENCE.indexOf(part) + 1];
  return next === undefined ? null : { part: next, owner: "", name: "" };
}

/** Seals a value with the current key; undefined if no configured key can open it. */
function reseal(
  sealer: Sealer,
  column: SealedColumn,
  { owner, name, sealed }: SealedRow,
): string | undefined {
  const place = PLACES[column](owner, name);
  let text: string;
  try {
    text = sealer.open(place, sealed);
  } catch {
    return undefined;
  }
  return sealer.seal(place, text);
}

const writeCursor = ({ part, owner, name }: Position): string => `${part}/${owner}/${name}`;

/** Parses a cursor. Every text is accepted, because an invalid cursor only makes the call start at another position. */
function readCursor(cursor: string): Position {
  const [text = "", owner = "", ...name] = cursor.split("/");
  const part = SEQUENCE.find((each) => each === text) ?? "urls";
  return { part, owner, name: name.join("/") };
}
