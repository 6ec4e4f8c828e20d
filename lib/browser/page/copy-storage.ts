import { errorText } from "#lib/text/error-text.ts";
import { withinTime } from "#lib/time/within-time.ts";
import type { LiveBrowser } from "../browser-service.ts";
import type { BrowserStorage } from "./open-fresh-context.ts";

/** A copy of a browser's storage. `left` says in sentences what was not copied. */
type CopiedStorage = { storage: BrowserStorage; left: string[] };

/** Maximum size of the databases and of the session storage, as JSON. They are sent to the browser for each new page. */
const COPY_BYTES_MAX = 2 * 1_048_576;
const DATABASES_MS_MAX = 5_000;
const SESSION_STORAGE_MS_MAX = 2_000;

/**
 * Copies what signs a session in: cookies, local storage and IndexedDB of every origin that it has visited, and the
 * session storage of the current page. Databases or session storage that are too large, or that cannot be read, are left
 * out.
 */
export async function copyStorage(
  live: Pick<LiveBrowser, "context" | "page" | "cdp">,
): Promise<CopiedStorage> {
  const [withDatabases, sessionStorage] = await Promise.all([
    readPart("IndexedDB", () => live.context.storageState({ indexedDB: true }), DATABASES_MS_MAX),
    readPart("session storage", () => readSessionStorage(live), SESSION_STORAGE_MS_MAX),
  ]);
  const storage = withDatabases.value ?? (await live.context.storageState());
  return {
    storage: { ...storage, ...(sessionStorage.value && { sessionStorage: sessionStorage.value }) },
    left: [...withDatabases.left, ...sessionStorage.left],
  };
}

async function readPart<Part>(
  name: string,
  read: () => Promise<Part>,
  timeoutMs: number,
): Promise<{ value?: Part; left: string[] }> {
  const leave = (reason: string) => ({ left: [`The ${name} of the session was not copied: ${reason}.`] });
  try {
    const value = await withinTime(read(), timeoutMs, "it could not be read in time");
    const isOther = (key: string) => key === "cookies" || key === "localStorage";
    const json = JSON.stringify(value, (key, part: unknown) => (isOther(key) ? undefined : part)) ?? "";
    const isLarge = Buffer.byteLength(json) > COPY_BYTES_MAX;
    return isLarge ? leave(`it is larger than ${COPY_BYTES_MAX / 1_048_576} MiB`) : { value, left: [] };
  } catch (error) {
    return leave((errorText(error).split("\n")[0] ?? "").replace(/\.$/, ""));
  }
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
