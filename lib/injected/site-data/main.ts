import { type EncodedDatabase, readDatabases } from "./read-databases.ts";
import { writeDatabase } from "./write-databases.ts";

/** Runs in an isolated world of a document. Reads and writes the local storage and the databases of its origin. */

type SiteStorage = { local: [key: string, value: string][]; databases: EncodedDatabase[] };

/**
 * What an origin has stored. `empty`: nothing. `large`: more than the limit. `skipped`: number of database records that
 * cannot be encoded; they are left out.
 */
type StorageReading =
  | { kind: "data"; text: string; skipped: number }
  | { kind: "empty" | "large" | "elsewhere" };

class TooLargeError extends Error {}

/**
 * Reads what the origin of the document has stored, as JSON text of at most `bytesMax` bytes.
 * @returns `elsewhere` if the document has another origin by now.
 */
export async function readSiteStorage(origin: string, bytesMax: number): Promise<StorageReading> {
  if (self.origin !== origin) return { kind: "elsewhere" };
  let bytes = 0;
  const budget = {
    spend(more: number) {
      bytes += more;
      if (bytes > bytesMax) throw new TooLargeError();
    },
  };
  try {
    const local = readLocal();
    for (const [key, value] of local) budget.spend(key.length + value.length);
    const databases = await readDatabases(budget);
    if (local.length === 0 && databases.length === 0) return { kind: "empty" };
    const text = JSON.stringify({ local, databases } satisfies SiteStorage);
    if (new TextEncoder().encode(text).length > bytesMax) return { kind: "large" };
    return { kind: "data", text, skipped: databases.reduce((sum, { skipped }) => sum + skipped, 0) };
  } catch (error) {
    if (error instanceof TooLargeError) return { kind: "large" };
    throw error;
  }
}

const readLocal = (): SiteStorage["local"] =>
  Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index)).flatMap((key) =>
    key === null ? [] : [[key, localStorage.getItem(key) ?? ""]],
  );

/**
 * Writes what {@link readSiteStorage} has read. Does not change keys and databases that exist already.
 * @returns the number of databases that could not be written.
 * @throws Error if the document has another origin.
 */
export async function writeSiteStorage(origin: string, text: string): Promise<number> {
  if (self.origin !== origin) throw new Error(`the document has the origin ${self.origin}`);
  const { local, databases } = JSON.parse(text) as SiteStorage;
  for (const [key, value] of local) if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
  const written = await Promise.allSettled(databases.map(writeDatabase));
  return written.filter(({ status }) => status === "rejected").length;
}
