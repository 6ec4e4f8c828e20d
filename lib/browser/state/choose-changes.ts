import { createHash } from "node:crypto";
import type { StorageReading } from "./read-open-documents.ts";
import {
  byteLength,
  COOKIES_PART,
  type Cookie,
  type CookiesPart,
  chooseLeftOut,
  limitCookies,
  ORIGINS_MAX,
  type SiteDataChange,
  type SiteDataPart,
  type StoredSiteData,
} from "./site-data.ts";

/** What a browser knows about the stored parts. */
export type StoredState = {
  parts: Map<string, { bytes: number; hash: string; usedAtMs: number }>;
  /** Storage keys whose data is not stored because it is too large. */
  leftOut: Set<string>;
  /** Parts that cannot be decrypted. They are removed with the next change. */
  unreadable: string[];
};

/** Describes stored parts, so that later readings can be compared with them. */
export function describeStored({ parts, unreadable }: StoredSiteData): StoredState {
  const cookies = parts.find(({ name }) => name === COOKIES_PART);
  const { leftOut } = cookies ? (JSON.parse(cookies.text) as CookiesPart) : { leftOut: [] };
  return {
    parts: new Map(parts.map((part) => [part.name, measure(part)])),
    leftOut: new Set(leftOut),
    unreadable,
  };
}

/**
 * Compares what a browser has now with what is stored.
 * @param readings what origins have stored in the browser, by storage key. Other origins are unchanged.
 * @returns the change to store, and the state after it.
 */
export function chooseChanges(
  stored: StoredState,
  readings: ReadonlyMap<string, StorageReading>,
  cookies: readonly Cookie[],
  nowMs: number,
): { change: Omit<SiteDataChange, "sessionId" | "generation">; next: StoredState } {
  const read = new Map<string, SiteDataPart>();
  const next = new Map(stored.parts);
  const leftOut = new Set(stored.leftOut);
  const add = (name: string, text: string) => {
    const part = { name, text, usedAtMs: nowMs };
    read.set(name, part);
    next.set(name, measure(part));
  };
  for (const [name, reading] of readings) {
    leftOut.delete(name);
    next.delete(name);
    if (reading.kind === "large") leftOut.add(name);
    if (reading.kind === "data") add(name, reading.text);
  }
  const measured = [...next].map(([name, part]) => ({ ...part, name }));
  for (const name of chooseLeftOut(measured)) {
    next.delete(name);
    leftOut.add(name);
  }
  const namedLeftOut = [...leftOut].slice(-ORIGINS_MAX);
  add(
    COOKIES_PART,
    JSON.stringify({ cookies: limitCookies(cookies), leftOut: namedLeftOut } satisfies CookiesPart),
  );
  const kept = [...read.values()].filter(({ name }) => next.has(name));
  const isChanged = ({ name }: SiteDataPart) => stored.parts.get(name)?.hash !== next.get(name)?.hash;
  return {
    change: {
      changed: kept.filter(isChanged),
      removed: [...stored.parts.keys(), ...stored.unreadable].filter((name) => !next.has(name)),
      used: kept.filter((part) => !isChanged(part)).map(({ name }) => name),
    },
    next: { parts: next, leftOut: new Set(namedLeftOut), unreadable: [] },
  };
}

const measure = ({ text, usedAtMs }: SiteDataPart) => ({
  bytes: byteLength(text),
  hash: createHash("sha256").update(text).digest("base64"),
  usedAtMs,
});
