import { storableText } from "#db/storable.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { SubmitAnnotation } from "../overlay/install-overlay.ts";
import type { PageDownload, StoredDownload } from "../page/page-downloads.ts";
import type { PageNavigation } from "../page/page-navigation.ts";
import { createInputQueue } from "../view/input.ts";
import type { Screencast } from "../view/screencast.ts";
import type { BrowserLifecycle, RunningBrowser } from "./browser-lifecycle.ts";
import type { StoredRecord } from "./browser-record.ts";

const MESSAGE_CHARS_MAX = 1_000;

/**
 * Connects a session to the browser that it has just taken from the pool: input, screencast and events, including the
 * end of the browser. Called once for each browser.
 */
export function followBrowser(
  deps: {
    record: StoredRecord;
    life: BrowserLifecycle;
    navigation: PageNavigation;
    cast: Screencast;
    /** Whether a script, not a person, was the last to act in the page. Pointer moves do not count. */
    isScriptLastActor: () => boolean;
    onAnnotation: SubmitAnnotation;
    storeDownload: (name: string, bytes: Uint8Array) => Promise<string>;
  },
  running: RunningBrowser,
): void {
  const { record, life, navigation, cast } = deps;
  const { browser } = running;
  const connectSelectedPage = () => {
    const { cdp } = browser.selected();
    running.inputQueue = createInputQueue(({ method, params }) => cdp.send(method, params));
    cast.attach(cdp);
  };
  let storing = Promise.resolve();
  browser.events = {
    onDocument: cast.refresh,
    onArrived: navigation.noteArrival,
    onLoaded: navigation.noteLoaded,
    onRefused: (reason) => record.note({ lastError: reason }),
    onDownload(download) {
      // Downloads are stored one after the other, so that two downloads never choose the same free file name.
      storing = storing.then(async () => {
        const stored = await store(deps.storeDownload, download);
        browser.activity.add({ kind: "download", download: stored });
        const { name, url, path = null, failure = null } = stored;
        const size = "size" in stored ? stored.size : null;
        record.emitPageEvent({
          kind: "browser.download",
          name,
          url: storableText(url),
          path,
          size,
          error: failure,
        });
      });
      return storing;
    },
    onDialog({ kind, message, isAccepted, by }) {
      record.emitPageEvent({
        kind: "browser.dialog",
        dialogType: kind,
        message: storableText(beginningOf(message, MESSAGE_CHARS_MAX)),
        answer: isAccepted ? "accepted" : "dismissed",
        answeredBy: by,
      });
    },
    onCrashed: () => life.lose(running, "failed", "the page crashed: its renderer ended"),
    onGone() {
      running.isLost = true;
      life.lose(running, "lost", null);
    },
    async onAnnotation(body) {
      // A submission is refused while a script runs, and also if a script was the last to act in the page. The overlay
      // itself cannot tell the input of a script from the input of a person.
      if (browser.overlayGate.isHeldByScript() || deps.isScriptLastActor())
        return { isStored: false, reason: "a script of the agent was using the page; please submit again" };
      return deps.onAnnotation(body);
    },
    onSelected(selected) {
      connectSelectedPage();
      navigation.noteSelected(selected.page.url());
    },
  };
  connectSelectedPage();
  // The browser may have ended before its events were connected.
  if (!browser.isOpen()) browser.events.onGone();
}

async function store(
  storeDownload: (name: string, bytes: Uint8Array) => Promise<string>,
  { url, name, bytes, failure }: PageDownload,
): Promise<StoredDownload> {
  if (!bytes) return { url, name, failure };
  try {
    return { url, name, path: await storeDownload(name, bytes), size: bytes.length };
  } catch (error) {
    return { url, name, failure: error instanceof Error ? error.message : String(error) };
  }
}
