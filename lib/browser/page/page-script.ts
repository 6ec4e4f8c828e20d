import type { CDPSession } from "playwright";

/** A script that the service runs in the pages of a browser, in the same JavaScript world as the pages' own scripts. */
export type PageScript = {
  /** Source that runs at the start of each document; null for none. */
  onLoad: string | null;
  /** Source that runs at the start of each document of a separate context, see `openFreshContext`; null for none. */
  everywhere: string | null;
  /** Source that brings a document that is already shown into the state that `onLoad` would give it. */
  now: string;
};

/** Installs the script in all pages of one browser. */
export type PageScripts = {
  /** Adds the script to a page that has just opened. */
  add: (cdp: CDPSession) => Promise<void>;
  /** Forgets a page that was closed. */
  remove: (cdp: CDPSession) => void;
  /** Replaces the script in all pages, and runs `now` in the documents that they show. */
  set: (script: PageScript) => Promise<void>;
  /** Returns the current script for pages of separate contexts. */
  everywhere: () => string | null;
};

/** How long to wait for a page to run `now`. A page that is busy for longer gets the script with its next document. */
const NOW_MS_MAX = 5_000;

/** @see PageScripts */
export function createPageScripts(): PageScripts {
  /** DevTools' identifier of the installed script of each page; undefined if the page has no script. */
  const pages = new Map<CDPSession, string | undefined>();
  let onLoad: string | null = null;
  let everywhere: string | null = null;

  async function install(cdp: CDPSession): Promise<void> {
    const previous = pages.get(cdp);
    if (previous !== undefined)
      await cdp.send("Page.removeScriptToEvaluateOnNewDocument", { identifier: previous });
    const added = onLoad === null ? undefined : await addScript(cdp, onLoad);
    pages.set(cdp, added);
  }

  return {
    async add(cdp) {
      pages.set(cdp, undefined);
      if (onLoad !== null) await install(cdp);
    },
    remove: (cdp) => void pages.delete(cdp),
    everywhere: () => everywhere,
    async set(script) {
      onLoad = script.onLoad;
      everywhere = script.everywhere;
      const runNow = async (cdp: CDPSession) => {
        await install(cdp);
        await cdp.send("Runtime.evaluate", { expression: script.now });
      };
      await Promise.all([...pages.keys()].map((cdp) => withinLimit(runNow(cdp))));
    },
  };
}

/** Waits for a page, but not longer than the limit. */
async function withinLimit(work: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, NOW_MS_MAX);
  // Prevents an unhandled rejection when the page closes after the limit.
  work.catch(() => {});
  await Promise.race([work, timeout.promise]).finally(() => clearTimeout(timer));
}

const addScript = async (cdp: CDPSession, source: string): Promise<string> =>
  (await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source })).identifier;
