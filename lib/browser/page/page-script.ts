import type { CDPSession } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";

/** A script that the service runs in the pages of a browser, in the same JavaScript world as the pages' own scripts. */
export type PageScript = {
  /** Source that runs at the start of each document in the session's own pages. Null if there is none. */
  onDocumentStart: string | null;
  /**
   * Source that runs at the start of each document in a separate context (`openFreshContext`); null if there is none.
   */
  inFreshContexts: string | null;
  /** Source that runs in a document that is already open. It changes the document as `onDocumentStart` changes a new one. */
  immediate: string;
};

/** Installs the script in all pages of one browser. */
export type PageScripts = {
  /** Adds the script to a page that has just opened. */
  add: (cdp: CDPSession) => Promise<void>;
  /** Removes a page that was closed. */
  remove: (cdp: CDPSession) => void;
  /**
   * Replaces the script in all pages, and runs `immediate` in the documents that the pages show. Waits at most 5 s.
   * @throws Error when a page cannot run the script, for example because the page closes.
   */
  set: (script: PageScript) => Promise<void>;
  /** Returns the current source for separate contexts (`PageScript.inFreshContexts`). */
  inFreshContexts: () => string | null;
};

/** How long to wait for a page to run `immediate`. A page that is busy for longer runs the script with its next document. */
const IMMEDIATE_MS_MAX = 5_000;

/** @see PageScripts */
export function createPageScripts(): PageScripts {
  /** DevTools' identifier of the script that is installed in each page. Undefined if the page has no script. */
  const pages = new Map<CDPSession, string | undefined>();
  let onDocumentStart: string | null = null;
  let inFreshContexts: string | null = null;

  async function install(cdp: CDPSession): Promise<void> {
    const previous = pages.get(cdp);
    if (previous !== undefined)
      await cdp.send("Page.removeScriptToEvaluateOnNewDocument", { identifier: previous });
    const added = onDocumentStart === null ? undefined : await addScript(cdp, onDocumentStart);
    pages.set(cdp, added);
  }

  return {
    async add(cdp) {
      pages.set(cdp, undefined);
      if (onDocumentStart !== null) await install(cdp);
    },
    remove: (cdp) => void pages.delete(cdp),
    inFreshContexts: () => inFreshContexts,
    async set(script) {
      onDocumentStart = script.onDocumentStart;
      inFreshContexts = script.inFreshContexts;
      const runImmediate = async (cdp: CDPSession) => {
        await install(cdp);
        await cdp.send("Runtime.evaluate", { expression: script.immediate });
      };
      await Promise.all([...pages.keys()].map((cdp) => withinLimit(runImmediate(cdp))));
    },
  };
}

/** Waits for work, but at most `IMMEDIATE_MS_MAX`. @throws the error of the work. */
const withinLimit = (work: Promise<void>): Promise<void> =>
  createDeadline({ ms: IMMEDIATE_MS_MAX }).race(work, () => {});

const addScript = async (cdp: CDPSession, source: string): Promise<string> =>
  (await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source })).identifier;
