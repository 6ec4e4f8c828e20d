import { storableText } from "#db/storable.ts";
import { errorText } from "#lib/text/error-text.ts";
import type { BrowserInput, InputGate } from "../browser-service.ts";
import type { SubmitAnnotation } from "../overlay/overlay-controller.ts";
import { describeLoadFailure } from "../page/load-failure.ts";
import type { PageDownload, StoredDownload } from "../page/page-downloads.ts";
import type { PageNavigation } from "../page/page-navigation.ts";
import type { SessionStage } from "../stage/session-stage.ts";
import { createInputQueue } from "../view/input.ts";
import { scaleCommand } from "../view/input-command.ts";
import { createPageClipboard } from "../view/page-clipboard.ts";
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
    /** The viewport that people have chosen. `scale` is how many pixels a CSS pixel has in the page's window. */
    view: { scale: () => number; onSelected: () => void; onDocument: () => void };
    stage: SessionStage;
    onAnnotation: SubmitAnnotation;
    /** Whether a person works in the page during a handover: texts of the page are then not recorded. */
    isPrivate: () => boolean;
    storeDownload: (name: string, bytes: Uint8Array) => Promise<string>;
  },
  running: RunningBrowser,
): void {
  const { record, life, navigation, cast, view, stage } = deps;
  const { browser } = running;
  const connectSelectedPage = () => {
    const { cdp, overlay, shown } = browser.selected();
    const queue = createInputQueue((command) => {
      const { method, params } = scaleCommand(command, { view: view.scale(), zoom: cast.zoom() });
      return cdp.send(method, params);
    });
    // The overlay does not know where its parts are in a zoomed page.
    const push = (input: BrowserInput, mayPass: InputGate) => {
      const pass = (passed: BrowserInput) => queue.push(passed, mayPass);
      return cast.zoom() > 1 ? pass(input) : overlay.input(input, pass);
    };
    const clipboard = createPageClipboard(cdp, {
      mainFrameId: () => shown().frameId,
      openDevtools: browser.process.devtools.open,
      push,
      isCommenting: overlay.isWriting,
    });
    running.clipboard = clipboard;
    running.inputQueue = {
      async push(input, mayPass = () => true) {
        await clipboard.push(input, mayPass);
        browser.widgets.noteInput(input);
      },
    };
    cast.attach({ cdp, guard: browser.guard });
    stage.noteChange();
  };
  const onGone = () => {
    running.isLost = true;
    life.lose(running, "lost", null);
  };
  let storing = Promise.resolve();
  browser.setEvents({
    onDocument() {
      view.onDocument();
      cast.refresh();
    },
    onArrived(arrival) {
      if (arrival.isDocument) stage.noteFailure(undefined);
      navigation.noteArrival(arrival);
    },
    onLoaded: navigation.noteLoaded,
    onRefused(reason, url) {
      record.note({ lastError: reason });
      stage.noteFailure(describeLoadFailure(url, reason));
    },
    onStageChanged: stage.noteChange,
    isPersonThere: stage.isPersonThere,
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
          url: deps.isPrivate() ? "" : storableText(url),
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
        message: deps.isPrivate() ? "" : storableText(message),
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
      view.onSelected();
      stage.noteFailure(undefined);
      navigation.noteSelected(selected.page.url());
    },
    onFailed: () => life.lose(running, "failed", "the service could not handle an event of the browser"),
  });
  connectSelectedPage();
  browser.documents.follow(stage.noteChange);
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
