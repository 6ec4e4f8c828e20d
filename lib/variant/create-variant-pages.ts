import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { HostControl } from "#lib/browser/view/host-control.ts";
import type { PictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { ensureLiveBrowser } from "#lib/tools/browser/ensure-live-browser.ts";
import { HANDED_OVER } from "#lib/tools/browser/handover/handed-over.ts";
import { whileShared } from "#lib/tools/browser/handover/while-shared.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import { storePicture } from "#lib/tools/browser/picture/store-picture.ts";
import { takePicture } from "#lib/tools/browser/picture/take-picture.ts";
import { checkVariant } from "./check/check-variant.ts";
import { groundChanges } from "./grounding/ground-changes.ts";
import { takePreviewPictures } from "./previews/take-pictures.ts";
import type { VariantPages } from "./variant-pages.ts";

type VariantPagesDeps = Pick<HostServices, "browser" | "evidence" | "recorder"> & {
  control: Pick<HostControl, "isPrivate" | "follow">;
  compare: PictureComparer;
  /** Origin from which published scripts are served. A page's Content-Security-Policy must allow this origin. */
  scriptOrigin: () => string;
};

/** Deadline for trying a revision on the live page. Allows for slow selectors, hydration and a busy machine. */
const GROUND_MS_MAX = 25_000;
const PICTURE_MS_MAX = 30_000;

/** Creates the work on live pages that variants need, for the process that runs the browsers. */
export function createVariantPages(deps: VariantPagesDeps): VariantPages {
  const { browser, evidence, recorder, control } = deps;
  /** The result is in an object, because work may have none. */
  const withLive = async <Result>(
    call: PageCall,
    work: (live: LiveBrowser, shared: PageCall) => Promise<Result>,
  ): Promise<Result> => {
    const done = await whileShared(control, call, async (shared) => {
      const live = await ensureLiveBrowser(browser, shared);
      try {
        return { result: await work(live, shared) };
      } finally {
        browser.touch(call.browserSessionId);
      }
    });
    if (!done) throw new Error(HANDED_OVER);
    return done.result;
  };
  return {
    readUrl: (_, call) => withLive(call, async (live) => live.page().url()),
    ground: (trial, call) =>
      withLive(call, (live, { signal }) =>
        pageDeadline(signal, GROUND_MS_MAX).race(() => groundChanges(live, trial)),
      ),
    picture: ({ title }, call) =>
      withLive(call, async (live, { signal }) => {
        const picture = await pageDeadline(signal, PICTURE_MS_MAX).race(() =>
          takePicture(live, { fullPage: false }),
        );
        await recorder.note(call);
        const url = live.page().url();
        signal.throwIfAborted();
        return storePicture(evidence, call, picture, { kind: "screenshot", title, url });
      }),
    check: (order, call) =>
      withLive(call, (live, { sessionId, runId, signal }) => {
        return checkVariant(
          { ...deps, scriptOrigin: deps.scriptOrigin() },
          { ...order, live, sessionId, runId, signal },
        );
      }),
    previews: (previews, call) =>
      withLive(call, (live, shared) => takePreviewPictures(evidence, live, previews, shared)),
  };
}
