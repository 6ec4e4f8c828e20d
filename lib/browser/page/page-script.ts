import type { CDPSession } from "playwright";

/** A script that the service runs in the pages of a browser, in the pages' main world. */
export type PageScript = {
  /** Runs at the start of each document; null for none. */
  onLoad: string | null;
  /** The part of it that also runs in pages of separate contexts, see `openFreshContext`; null for none. */
  everywhere: string | null;
  /** Updates the document that a page shows now to the state that `onLoad` would give it. */
  now: string;
};

/** The script in all pages of one browser. */
export type PageScripts = {
  /** Adds the script to a page that has just opened. */
  add: (cdp: CDPSession) => Promise<void>;
  /** Removes a page that was closed. */
  remove: (cdp: CDPSession) => void;
  /** Replaces the script in all pages, and runs `now` in the documents they show. */
  set: (script: PageScript) => Promise<void>;
  /** The current script for pages of separate contexts. */
  everywhere: () => string | null;
};

/** How long a page may take to run `now`: a page that is busy gets the script with its next document. */
const NOW_MS_MAX = 5_000;

/** @see PageScripts */
export function createPageScripts(): PageScripts {
  /** The identifier of the script in each page; undefined without a script. */
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
