import type { BrowserContext } from "playwright";

export type Cookie = Awaited<ReturnType<BrowserContext["cookies"]>>[number];

/**
 * A part of the site data of a session: its cookies, or what one origin has stored. `name` is `COOKIES_PART` or a storage
 * key, `text` is JSON.
 */
export type SiteDataPart = { name: string; text: string; usedAtMs: number };

/** The stored site data of a session. `unreadable`: names of parts that could not be decrypted. */
export type StoredSiteData = { parts: SiteDataPart[]; unreadable: string[] };

/** A change of stored site data. `generation`: the start of the browser that makes it, see `browsers.starts`. */
export type SiteDataChange = {
  sessionId: string;
  generation: number;
  changed: SiteDataPart[];
  removed: string[];
  /** Names of unchanged parts that the browser has used. */
  used: string[];
};

/** The part with the cookies, and with the storage keys whose data was not kept because it is too large. */
export const COOKIES_PART = "cookies";
export type CookiesPart = { cookies: Cookie[]; leftOut: string[] };

/** Bounds of the site data of a session, in bytes of JSON. Pages decide how much they store. */
export const ORIGIN_BYTES_MAX = 5 * 2 ** 20;
export const COOKIES_BYTES_MAX = 2 * 2 ** 20;
export const SITE_DATA_BYTES_MAX = 20 * 2 ** 20;
export const ORIGINS_MAX = 200;

type Measured = { name: string; bytes: number; usedAtMs: number };

/**
 * Chooses the parts that are not kept, so that the rest is within the bounds: whole origins, least recently used first.
 * Cookies are always kept.
 */
export function chooseLeftOut(parts: readonly Measured[]): string[] {
  const cookies = parts.find(({ name }) => name === COOKIES_PART);
  let bytes = cookies?.bytes ?? 0;
  let count = 0;
  const newestFirst = parts.filter((part) => part !== cookies).sort((a, b) => b.usedAtMs - a.usedAtMs);
  return newestFirst.flatMap((part) => {
    const isKept =
      part.bytes <= ORIGIN_BYTES_MAX && bytes + part.bytes <= SITE_DATA_BYTES_MAX && count < ORIGINS_MAX;
    if (!isKept) return [part.name];
    bytes += part.bytes;
    count += 1;
    return [];
  });
}

/** Returns the cookies within the bound. Leaves out all cookies of a domain, largest domains first. */
export function limitCookies(cookies: readonly Cookie[]): Cookie[] {
  const sizes = new Map<string, number>();
  for (const cookie of cookies)
    sizes.set(cookie.domain, (sizes.get(cookie.domain) ?? 0) + byteLength(JSON.stringify(cookie)) + 1);
  let bytes = 0;
  const kept = new Set<string>();
  for (const [domain, size] of [...sizes].sort(([, a], [, b]) => a - b)) {
    bytes += size;
    if (bytes > COOKIES_BYTES_MAX) break;
    kept.add(domain);
  }
  return cookies.filter(({ domain }) => kept.has(domain));
}

export const byteLength = (text: string): number => Buffer.byteLength(text);
