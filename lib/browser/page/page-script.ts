import type { CDPSession } from "playwright";
import { untilSettled } from "#lib/time/within-time.ts";

/** A script that the service runs in the pages of a browser, in the same JavaScript world as the pages' own scripts. */
export type PageScript = {
  /** Source that runs at the start of each document in the session's own pages. Null if there is none. */
  onLoad: string | null;
  /**
   * Source that runs at the start of each document in a separate context (`openFreshContext`); null if there is none.
   */
  everywhere: string | null;
  /** Source that runs in a document that is already open. It changes the document as `onLoad` changes a new one. */
  now: string;
};

/** Installs the script in all pages of one browser. */
export type PageScripts = {
  /** Adds the script to a page that has just opened. */
  add: (cdp: CDPSession) => Promise<void>;
  /** Removes a page that was closed. */
  remove: (cdp: CDPSession) => void;
  /**
   * Replaces the script in all pages, and runs `now` in the documents that the pages show. Waits at most 5 s.
   * @throws Error when a page cannot run the script, for example because the page closes.
   */
  set: (script: PageScript) => Promise<void>;
  /** Returns the current source for separate contexts (`PageScript.everywhere`). */
  everywhere: () => string | null;
};

/** How long to wait for a page to run `now`. A page that is busy for longer runs the script with its next document. */
const NOW_MS_MAX = 5_000;

/** @see PageScripts */
export function createPageScripts(): PageScripts {
  /** DevTools' identifier of the script that is installed in each page. Undefined if the page has no script. */
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

/** Waits for work, but at most `NOW_MS_MAX`. @throws the error of the work. */
const withinLimit = (work: Promise<void>): Promise<void> =>
  Promise.race([work, untilSettled(work, NOW_MS_MAX)]);

const addScript = async (cdp: CDPSession, source: string): Promise<string> =>
  (await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source })).identifier;
