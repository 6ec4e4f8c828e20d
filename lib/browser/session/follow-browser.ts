import { storableText } from "#db/storable.ts";
import { errorText } from "#lib/text/error-text.ts";
import type { SubmitAnnotation } from "../overlay/overlay-controller.ts";
import type { PageDownload, StoredDownload } from "../page/page-downloads.ts";
import type { PageNavigation } from "../page/page-navigation.ts";
import { createInputQueue } from "../view/input.ts";
import type { Screencast } from "../view/screencast.ts";
import type { BrowserLifecycle } from "./browser-lifecycle.ts";
import type { StoredRecord } from "./browser-record.ts";
import type { RunningBrowser } from "./lifecycle/lifecycle-state.ts";

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
    onAnnotation: SubmitAnnotation;
    storeDownload: (name: string, bytes: Uint8Array) => Promise<string>;
  },
  running: RunningBrowser,
): void {
  const { record, life, navigation, cast } = deps;
  const { browser } = running;
  const connectSelectedPage = () => {
    const { cdp, overlay } = browser.selected();
    const queue = createInputQueue(({ method, params }) => cdp.send(method, params));
    running.inputQueue = { push: (input) => overlay.input(input, queue.push) };
    cast.attach({ cdp, guard: browser.guard });
  };
  const onGone = () => {
    running.isLost = true;
    life.lose(running, "lost", null);
  };
  let storing = Promise.resolve();
  browser.setEvents({
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
        message: storableText(message),
        answer: isAccepted ? "accepted" : "dismissed",
        answeredBy: by,
      });
    },
    onCrashed: (reason) => life.lose(running, "failed", reason),
    onPageLost: (reason) => record.note({ lastError: `a page in the background was closed: ${reason}` }),
    onGone,
    onAnnotation: deps.onAnnotation,
    onSelected(selected) {
      connectSelectedPage();
      navigation.noteSelected(selected.page.url());
    },
    onFailed: () => life.lose(running, "failed", "the service could not handle an event of the browser"),
  });
  connectSelectedPage();
  // The browser may have ended before its events were connected.
  if (!browser.isOpen()) onGone();
}

async function store(
  storeDownload: (name: string, bytes: Uint8Array) => Promise<string>,
  { url, name, bytes, failure }: PageDownload,
): Promise<StoredDownload> {
  if (!bytes) return { url, name, failure };
  try {
    return { url, name, path: await storeDownload(name, bytes), size: bytes.length };
  } catch (error) {
    return { url, name, failure: errorText(error) };
  }
}
