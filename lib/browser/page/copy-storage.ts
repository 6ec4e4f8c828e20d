import { errorText } from "#lib/text/error-text.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { LiveBrowser } from "../browser-service.ts";
import type { BrowserStorage } from "./open-fresh-context.ts";

/** A copy of a browser's storage. `left` says in sentences what was not copied. */
type CopiedStorage = { storage: BrowserStorage; left: string[] };

/** Maximum size of the databases and of the session storage, as JSON. They are sent to the browser for each new page. */
const COPY_BYTES_MAX = 2 * 1_048_576;
const DATABASES_MS_MAX = 5_000;
const SESSION_STORAGE_MS_MAX = 2_000;

/** Kinds of storage that are not copied, with their names in sentences. */
const NOT_COPIED: Partial<Record<string, string>> = {
  cache_storage: "caches",
  file_systems: "private files",
};

/**
 * Copies what signs a session in: cookies, local storage and IndexedDB of every origin that it has visited, and the
 * session storage of the current page. Databases or session storage that are too large, or that cannot be read, are left
 * out, and so are the caches and private files of the current page. Service workers are not copied, because the first
 * visit of a page has none; HTTP credentials and the session storage of frames of other origins cannot be read.
 */
export async function copyStorage(
  live: Pick<LiveBrowser, "context" | "page" | "cdp">,
): Promise<CopiedStorage> {
  const [withDatabases, sessionStorage, unread] = await Promise.all([
    readPart("IndexedDB", () => live.context.storageState({ indexedDB: true }), DATABASES_MS_MAX),
    readPart("session storage", () => readSessionStorage(live), SESSION_STORAGE_MS_MAX),
    readPart("usage of storage", () => listUnread(live), SESSION_STORAGE_MS_MAX),
  ]);
  const storage = withDatabases.value ?? (await live.context.storageState());
  return {
    storage: { ...storage, ...(sessionStorage.value && { sessionStorage: sessionStorage.value }) },
    left: [...withDatabases.left, ...sessionStorage.left, ...(unread.value ?? [])],
  };
}

async function readPart<Part>(
  name: string,
  read: () => Promise<Part>,
  timeoutMs: number,
): Promise<{ value?: Part; left: string[] }> {
  const leave = (reason: string) => ({ left: [`The ${name} of the session was not copied: ${reason}.`] });
  try {
    const value = await createDeadline({ ms: timeoutMs, lateMessage: "it could not be read in time" }).race(
      read(),
    );
    const isOther = (key: string) => key === "cookies" || key === "localStorage";
    const json = JSON.stringify(value, (key, part: unknown) => (isOther(key) ? undefined : part)) ?? "";
    const isLarge = Buffer.byteLength(json) > COPY_BYTES_MAX;
    return isLarge ? leave(`it is larger than ${COPY_BYTES_MAX / 1_048_576} MiB`) : { value, left: [] };
  } catch (error) {
    return leave((errorText(error).split("\n")[0] ?? "").replace(/\.$/, ""));
  }
}

/** Names the kinds of storage of the current page that are in use and not copied. */
async function listUnread(live: Pick<LiveBrowser, "page" | "cdp">): Promise<string[]> {
  const url = URL.parse(live.page().url());
  if (!url || !/^https?:$/.test(url.protocol)) return [];
  const cdp = await live.cdp();
  const { usageBreakdown } = await cdp.send("Storage.getUsageAndQuota", { origin: url.origin });
  const names = usageBreakdown.flatMap(({ storageType, usage }) =>
    usage > 0 ? (NOT_COPIED[storageType] ?? []) : [],
  );
  return names.length === 0 ? [] : [`The ${names.join(" and ")} of ${url.origin} were not copied.`];
}

/** Reads the session storage of the current page over DevTools, without a script in the page. */
async function readSessionStorage(
  live: Pick<LiveBrowser, "page" | "cdp">,
): Promise<BrowserStorage["sessionStorage"]> {
  const url = URL.parse(live.page().url());
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const cdp = await live.cdp();
  const { entries } = await cdp.send("DOMStorage.getDOMStorageItems", {
    storageId: { securityOrigin: url.origin, isLocalStorage: false },
  });
  const items = entries.flatMap(([name, value]) =>
    name === undefined || value === undefined ? [] : [{ name, value }],
  );
  return items.length === 0 ? undefined : { origin: url.origin, items };
}
