import type { BrowserContext, Page } from "playwright";
import type { BrowserProcess } from "../process/browser-provider.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { StageWidgets } from "../stage/stage-widgets.ts";
import { adoptPage, type LivePage, type LivePageEvents, type LivePageOptions } from "./live-page.ts";
import type { PageActivity } from "./page-activity.ts";
import type { AnsweredDialog } from "./page-dialogs.ts";
import type { PageDownload } from "./page-downloads.ts";
import { isPictureInPicture } from "./picture-in-picture.ts";

/** The events of a browser and of its selected page. */
export type OpenBrowserEvents = Omit<LivePageEvents, "onCrashed" | "onTabChanged"> & {
  /** Called when the selected page has crashed, or was ended because it took too much. */
  onCrashed: (reason: string) => void;
  /** Called when another page has crashed or was ended. The page was closed. */
  onPageLost: (reason: string) => void;
  /** Called when a dialog of a page was answered. */
  onDialog: (dialog: AnsweredDialog) => void;
  /** Called when a file that a page offered for download was read, or could not be read. */
  onDownload: (download: PageDownload) => Promise<void>;
  onSelected: (page: LivePage) => void;
  /** Called when what people see of the browser may have changed: its tabs, its loading, what waits for a person. */
  onStageChanged: () => void;
  /** Whether a person has control, and sees what waits for a person. */
  isPersonThere: () => boolean;
  /** Called when the browser ended unexpectedly. */
  onGone: () => void;
  /** Called when the service failed to handle an event of the browser. The session then ends the browser. */
  onFailed: () => void;
};

/** The state of an open browser. */
export type BrowserState = {
  /** The pages in the order in which they were selected. The last page is the selected one. */
  pages: LivePage[];
  /** The same pages in the order in which they were opened. */
  opened: LivePage[];
  /** Number of pages that have opened but are not in `pages` yet. */
  opening: number;
  isOpen: boolean;
  /** The receiver of the browser's events. Undefined while no session uses the browser. */
  events: OpenBrowserEvents | undefined;
};

/** The largest number of pages that one browser may have at the same time. Each page may need its own process. */
const PAGES_MAX = 8;

/** What the pages of a browser need of it. */
type Opened = {
  context: BrowserContext;
  process: BrowserProcess;
  activity: Pick<PageActivity, "add">;
  widgets: Pick<StageWidgets, "noteDocument" | "noteSelected" | "offerFiles">;
};

const CRASHED = "the page crashed: its renderer ended";

/** Opens the first page, and waits until it is set up. Also sets up the pages that open later. */
export async function openFirstPage(
  opened: Opened,
  state: BrowserState,
  options: LivePageOptions,
): Promise<void> {
  const { context } = opened;
  const { guard } = options;
  const first = Promise.withResolvers<void>();
  // Prevents an unhandled rejection if the page fails before it is awaited below.
  first.promise.catch(() => {});
  let openPages = 0;
  const onPage = (page: Page) => {
    openPages += 1;
    page.on(
      "crash",
      guard(() => first.reject(new Error("the page crashed as it came up"))),
    );
    page.on(
      "close",
      guard(() => {
        openPages -= 1;
      }),
    );
    // The number of pages is limited, because a hostile page may open pages in a loop.
    if (openPages > PAGES_MAX) return page.close().catch(() => {});
    return adopt(opened, state, page, options).then(
      ({ live, isAside }) => {
        if (!page.isClosed()) enter(opened, state, live, isAside, guard);
        first.resolve();
      },
      (error: unknown) => {
        first.reject(error);
        // A page without the guards and the listeners must not stay open.
        return page.close().catch(() => {});
      },
    );
  };
  context.on("page", guard(onPage));
  await context.newPage();
  await first.promise;
}

/** Sets up a page. `isAside`: the page must not become the selected one. */
async function adopt(opened: Opened, state: BrowserState, page: Page, options: LivePageOptions) {
  state.opening += 1;
  try {
    const [live, isAside] = await Promise.all([
      adoptPage(opened.context, page, options, pageEvents(opened, state, page)),
      isPictureInPicture(page),
    ]);
    return { live, isAside };
  } finally {
    state.opening -= 1;
  }
}

/** Adds a page that is set up, and selects it unless it stays aside. */
function enter(
  opened: Opened,
  state: BrowserState,
  live: LivePage,
  isAside: boolean,
  guard: ListenerGuard,
): void {
  live.page.on(
    "close",
    guard(() => deselect(opened, state, live)),
  );
  live.page.on(
    "filechooser",
    guard((chooser) => opened.widgets.offerFiles(live.page, chooser)),
  );
  state.opened.push(live);
  if (isAside) {
    state.pages.unshift(live);
    return;
  }
  state.pages.push(live);
  opened.widgets.noteSelected();
  state.events?.onSelected(live);
}

async function deselect(opened: Opened, state: BrowserState, live: LivePage): Promise<void> {
  const { pages } = state;
  const wasSelected = pages.at(-1) === live;
  pages.splice(pages.indexOf(live), 1);
  state.opened.splice(state.opened.indexOf(live), 1);
  opened.widgets.noteDocument(live.page);
  state.events?.onStageChanged();
  if (!state.isOpen || !wasSelected) return;
  const previous = pages.at(-1);
  if (previous) state.events?.onSelected(previous);
  else await opened.context.newPage().catch(() => {});
}

/**
 * Forwards the events of a page to the browser's `events` while that page is the selected one. Submissions of the
 * annotation overlay are forwarded from every page.
 */
function pageEvents(opened: Opened, state: BrowserState, page: Page): LivePageEvents {
  const owner = () => (state.pages.at(-1)?.page === page ? state.events : undefined);
  return {
    onDocument: () => owner()?.onDocument(),
    onArrived(arrival) {
      if (arrival.isDocument) opened.widgets.noteDocument(page);
      owner()?.onArrived(arrival);
    },
    onLoaded: () => owner()?.onLoaded(),
    onRefused: (reason, url) => owner()?.onRefused(reason, url),
    onTabChanged: () => state.events?.onStageChanged(),
    onCrashed() {
      const reason = opened.process.explainCrash() ?? CRASHED;
      if (!state.events) return endUnused(opened.process, state);
      if (owner()) return owner()?.onCrashed(reason);
      opened.activity.add({ kind: "page-lost", page, url: page.url(), reason });
      state.events.onPageLost(reason);
      void page.close().catch(() => {});
    },
    onAnnotation: async (body) =>
      state.events?.onAnnotation(body) ?? { isStored: false, reason: "the browser is closing" },
  };
}

/** Ends a browser that no session uses, so that no session receives it. */
export function endUnused(process: BrowserProcess, state: BrowserState): void {
  state.isOpen = false;
  void process.kill();
}
