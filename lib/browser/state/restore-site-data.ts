import type { BrowserContext } from "playwright";
import { callInjected } from "#lib/injected/call-injected.ts";
import type { Logger } from "#lib/log/logger.ts";
import { hostAndPort } from "#lib/net/address/address-rule.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { HiddenPage } from "./hidden-page.ts";
import type { HiddenWork } from "./hidden-work.ts";
import { COOKIES_PART, type CookiesPart, type StoredSiteData } from "./site-data.ts";
import { parseStorageKey, type StorageKey } from "./storage-key.ts";

/** What became available again when a browser started. */
export type Restoration = {
  /** `none`: nothing was stored. `failed`: something was stored, and cookies could not be restored. */
  outcome: "restored" | "none" | "failed";
  /** The origins whose storage was too large to be stored, or could not be restored. */
  lost: string[];
};

/** Restores site data in a browser that has just started. */
export type SiteDataRestorer = {
  /** Restores cookies. Storage is restored when the browser connects to the origin's host for the first time. */
  restore: (stored: StoredSiteData) => Promise<void>;
  restoration: Restoration;
  /** Returns what a request to a host waits for: the restoration of what its origins have stored. */
  hold: (host: string) => Promise<unknown> | undefined;
  /** Whether this storage was not restored yet. */
  isPending: (name: string) => boolean;
};

type Deps = { context: BrowserContext; hidden: HiddenWork; logger: Logger };

/** How long a request waits at most. Restoring it later does not overwrite what the page has stored by then. */
const HOLD_MS_MAX = 20_000;

/** @see SiteDataRestorer */
export function createSiteDataRestorer({ context, hidden, logger }: Deps): SiteDataRestorer {
  const restoration: Restoration = { outcome: "none", lost: [] };
  /** Storage that was not restored yet, by storage key. */
  const pending = new Map<string, { key: StorageKey; text: string }>();
  /** Restorations in progress, by host and port. */
  const restoring = new Map<string, Promise<void>>();

  async function restore({ parts, unreadable }: StoredSiteData): Promise<void> {
    if (parts.length + unreadable.length === 0) return;
    restoration.outcome = unreadable.includes(COOKIES_PART) ? "failed" : "restored";
    const cookies = parts.find(({ name }) => name === COOKIES_PART);
    const { cookies: list, leftOut } = JSON.parse(
      cookies?.text ?? '{"cookies":[],"leftOut":[]}',
    ) as CookiesPart;
    for (const name of [...unreadable, ...leftOut]) noteLost(name);
    for (const { name, text } of parts) {
      const key = parseStorageKey(name);
      if (key && hidden.isPossible) pending.set(name, { key, text });
      else if (key) noteLost(name);
    }
    if (!(await addCookies(list))) restoration.outcome = "failed";
  }
  function noteLost(name: string): void {
    const origin = parseStorageKey(name)?.origin;
    if (origin !== undefined) restoration.lost.push(origin);
  }
  async function addCookies(cookies: CookiesPart["cookies"]): Promise<boolean> {
    try {
      await context.addCookies(cookies);
      return true;
    } catch {
      // One cookie that is refused makes the whole call fail.
      const added = await Promise.allSettled(cookies.map((cookie) => context.addCookies([cookie])));
      return added.some(({ status }) => status === "fulfilled");
    }
  }

  async function write(page: HiddenPage, name: string): Promise<void> {
    const stored = pending.get(name);
    if (!stored) return;
    const world = await page.visit(stored.key);
    const args: [string, string] = [stored.key.origin, stored.text];
    if ((await callInjected(world, "site-data", "writeSiteStorage", args)) > 0) noteLost(name);
    pending.delete(name);
  }
  async function restoreAll(names: string[]): Promise<void> {
    try {
      await hidden.run(async (page) => {
        for (const name of names) await write(page, name);
      });
    } catch (error) {
      logger.warn({ err: error }, "the storage of a site was not restored");
      for (const name of names) if (pending.delete(name)) noteLost(name);
    }
  }

  return {
    restore,
    restoration,
    hold(host) {
      const names = [...pending].flatMap(([name, { key }]) => (hostOf(key.origin) === host ? [name] : []));
      if (names.length === 0) return undefined;
      const restored = restoring.get(host) ?? restoreAll(names).finally(() => restoring.delete(host));
      restoring.set(host, restored);
      return createDeadline({ ms: HOLD_MS_MAX }).settles(restored);
    },
    isPending: (name) => pending.has(name),
  };
}

/** Returns the host and port of an origin, as the proxy names them. */
function hostOf(origin: string): string {
  const { hostname, port } = hostAndPort(new URL(origin));
  return `${hostname}:${port}`;
}
