import { type EncodedValue, encodeValue, type PendingBlob, toBase64 } from "./encode-value.ts";

type EncodedIndex = { name: string; keyPath: string | string[]; unique: boolean; multiEntry: boolean };
type EncodedStore = {
  name: string;
  keyPath: string | string[] | null;
  autoIncrement: boolean;
  indexes: EncodedIndex[];
  records: [key: EncodedValue, value: EncodedValue][];
};
/** An IndexedDB database of a page. `skipped` is the number of records that have no encoding. */
export type EncodedDatabase = { name: string; version: number; stores: EncodedStore[]; skipped: number };

/** Counts what is read. @throws TooLargeError if it is more than the limit. */
type Budget = { spend: (bytes: number) => void };

/** Reads all databases of the document's origin. @throws TooLargeError if they are larger than the budget. */
export async function readDatabases(budget: Budget): Promise<EncodedDatabase[]> {
  const databases: EncodedDatabase[] = [];
  for (const { name } of await indexedDB.databases()) {
    if (name === undefined) continue;
    const database = await openExisting(name);
    if (!database) continue;
    try {
      databases.push(await readDatabase(database, budget));
    } finally {
      database.close();
    }
  }
  return databases;
}

/** Opens a database. Undefined if it was deleted meanwhile: opening it must not create it again. */
function openExisting(name: string): Promise<IDBDatabase | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<IDBDatabase | undefined>();
  const request = indexedDB.open(name);
  let isNew = false;
  request.onupgradeneeded = () => {
    isNew = true;
    request.transaction?.abort();
  };
  request.onerror = () => (isNew ? resolve(undefined) : reject(request.error));
  request.onsuccess = () => {
    const { result } = request;
    // The page may delete or upgrade the database now; an open connection would block it.
    result.onversionchange = () => result.close();
    resolve(result);
  };
  return promise;
}

async function readDatabase(database: IDBDatabase, budget: Budget): Promise<EncodedDatabase> {
  const { name, version } = database;
  const encoded: EncodedDatabase = { name, version, stores: [], skipped: 0 };
  const names = [...database.objectStoreNames];
  if (names.length === 0) return encoded;
  const blobs: PendingBlob[] = [];
  const transaction = database.transaction(names, "readonly");
  encoded.stores = await Promise.all(
    names.map(async (each) => {
      const store = transaction.objectStore(each);
      const described = describeStore(store);
      encoded.skipped += await readRecords(store, described.records, blobs, budget);
      return described;
    }),
  );
  for (const { blob, fill } of blobs) {
    const base64 = toBase64(new Uint8Array(await blob.arrayBuffer()));
    fill(base64);
  }
  return encoded;
}

function describeStore(store: IDBObjectStore): EncodedStore {
  const { name, keyPath, autoIncrement } = store;
  const indexes = [...store.indexNames].map((each) => {
    const { name: indexName, keyPath: path, unique, multiEntry } = store.index(each);
    return { name: indexName, keyPath: copyPath(path), unique, multiEntry };
  });
  return { name, keyPath: keyPath === null ? null : copyPath(keyPath), autoIncrement, indexes, records: [] };
}

const copyPath = (path: string | string[] | DOMStringList): string | string[] =>
  typeof path === "string" ? path : [...path];

/** Reads the records of a store. @returns the number of records that have no encoding. */
function readRecords(
  store: IDBObjectStore,
  records: EncodedStore["records"],
  blobs: PendingBlob[],
  budget: Budget,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let skipped = 0;
  const request = store.openCursor();
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const cursor = request.result;
    if (!cursor) return resolve(skipped);
    const read = encodeRecord(cursor);
    if (read) {
      try {
        budget.spend(read.bytes);
      } catch (error) {
        store.transaction.abort();
        return reject(error);
      }
      records.push(read.record);
      blobs.push(...read.blobs);
    } else skipped += 1;
    cursor.continue();
  };
  return promise;
}

function encodeRecord(cursor: IDBCursorWithValue) {
  try {
    const { encoded: key } = encodeValue(cursor.primaryKey);
    const { encoded, blobs } = encodeValue(cursor.value);
    const record: [EncodedValue, EncodedValue] = [key, encoded];
    const blobBytes = blobs.reduce((sum, { blob }) => sum + Math.ceil(blob.size / 3) * 4, 0);
    return { record, blobs, bytes: JSON.stringify(record).length + blobBytes };
  } catch {
    // A value without an encoding, or nested too deeply.
    return undefined;
  }
}
