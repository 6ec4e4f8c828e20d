import { decodeValue } from "./encode-value.ts";
import type { EncodedDatabase } from "./read-databases.ts";

/** Creates a database with its stores, indexes and records. A database that exists already is not changed. */
export function writeDatabase({ name, version, stores }: EncodedDatabase): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = indexedDB.open(name, version);
  let isOld = false;
  request.onupgradeneeded = ({ oldVersion }) => {
    if (oldVersion > 0) {
      isOld = true;
      request.transaction?.abort();
      return;
    }
    for (const encoded of stores) fillStore(createStore(request.result, encoded), encoded);
  };
  // A database with a higher version exists already, too.
  request.onerror = () =>
    isOld || request.error?.name === "VersionError" ? resolve() : reject(request.error);
  request.onblocked = () => resolve();
  request.onsuccess = () => {
    request.result.close();
    resolve();
  };
  return promise;
}

type EncodedStore = EncodedDatabase["stores"][number];

function createStore(
  database: IDBDatabase,
  { name, keyPath, autoIncrement, indexes }: EncodedStore,
): IDBObjectStore {
  const store = database.createObjectStore(name, { keyPath, autoIncrement });
  for (const { name: index, keyPath: path, unique, multiEntry } of indexes)
    store.createIndex(index, path, { unique, multiEntry });
  return store;
}

function fillStore(store: IDBObjectStore, { records }: EncodedStore): void {
  for (const [key, value] of records) {
    const decoded = decodeValue(value);
    // A key generator continues after the largest key.
    if (store.keyPath === null) store.put(decoded, decodeValue(key) as IDBValidKey);
    else store.put(decoded);
  }
}
