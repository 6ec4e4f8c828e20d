import { storableText } from "#db/storable.ts";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { copyStorage } from "#lib/browser/page/copy-storage.ts";
import type { BrowserStorage } from "#lib/browser/page/open-fresh-context.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { errorText } from "#lib/text/error-text.ts";
import { shorten } from "#lib/text/shorten.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import { VIEWPORTS } from "../check/check-report.ts";
import { variantScript } from "../compile/variant-script.ts";
import { untilApplied } from "../variant-in-page.ts";
import { findRevision, type Revision } from "../variant-store.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { listPreviews, type PreviewRow, replacePreviews } from "./preview-store.ts";

/** The fields that describe a preview before its picture is taken. */
export type WantedPreview = Pick<
  PreviewRow,
  "title" | "url" | "viewport" | "width" | "height" | "variant" | "scrollTo" | "caption"
>;

type PreviewCall = {
  sessionId: string;
  /** The root session, to which the previews belong. */
  rootSessionId: string;
  requestId: string | null;
  runId: string | null;
  signal: AbortSignal;
};

const PAGE_MS_MAX = 25_000;
const LOAD_MS_MAX = 15_000;
/** Maximum length of a preview's error, which may contain text of the page. */
const ERROR_CHARS_MAX = 500;
/** Time limit for the wait until the page makes no more requests after the load event. */
const REST_MS_MAX = 3_000;

/**
 * Takes the picture of each preview on a fresh load of its page. Then replaces the session's previews and emits
 * `preview.updated`, in one transaction. If the picture of a preview cannot be taken, the preview is stored with an
 * error instead.
 *
 * @returns `notes` says in sentences what of the session the pictures do without, such as databases that are too large.
 */
export async function takePreviews(
  services: VariantToolServices,
  live: LiveBrowser,
  call: PreviewCall,
  wanted: readonly WantedPreview[],
): Promise<{ rows: PreviewRow[]; notes: string[] }> {
  await faultPoint("preview-begun");
  const { storage, left } = await copyStorage(live);
  const rows: PreviewRow[] = [];
  // The pictures are taken one after the other, because each needs its own browser page, which costs memory.
  for (const [position, preview] of wanted.entries())
    rows.push(await takePreview(services, live, storage, call, { position, preview }));
  await storePreviews(services, call, rows);
  return { rows, notes: left };
}

async function takePreview(
  services: VariantToolServices,
  live: LiveBrowser,
  storage: BrowserStorage,
  call: PreviewCall,
  { position, preview }: { position: number; preview: WantedPreview },
): Promise<PreviewRow> {
  const { rootSessionId, signal } = call;
  const row: PreviewRow = {
    ...preview,
    sessionId: rootSessionId,
    position,
    revision: null,
    evidenceId: null,
    error: null,
    takenAt: null,
  };
  const revision =
    preview.variant === null ? undefined : await findRevision(services.db, rootSessionId, preview.variant);
  if (preview.variant !== null && !revision)
    return { ...row, error: `there is no variant ${preview.variant}` };
  try {
    const bytes = await pageDeadline(signal, PAGE_MS_MAX).race(() =>
      takePicture(live, storage, preview, revision),
    );
    const picture = await services.evidence.save({
      sessionId: call.sessionId,
      runId: call.runId,
      kind: "preview",
      title: preview.title,
      url: preview.url,
      mediaType: "image/jpeg",
      bytes,
    });
    return { ...row, revision: revision?.number ?? null, evidenceId: picture.id, takenAt: new Date() };
  } catch (error) {
    signal.throwIfAborted();
    const [reason = ""] = errorText(error).split("\n");
    return { ...row, error: storableText(shorten(reason, ERROR_CHARS_MAX)) };
  }
}

/**
 * Loads the page in a new browser context, with a copy of the live browser's cookies and storage, and captures the
 * viewport.
 */
async function takePicture(
  live: LiveBrowser,
  storage: BrowserStorage,
  { url, width, height, viewport, scrollTo }: WantedPreview,
  revision: Revision | undefined,
): Promise<Uint8Array> {
  const isMobile = viewport === "phone";
  const fresh = await live.openContext({ viewport: { width, height }, isMobile, storage });
  try {
    const { page, cdp } = fresh;
    const reason = await fresh.refuse(url);
    if (reason !== undefined) throw new Error(reason);
    if (revision)
      await cdp.send("Page.addScriptToEvaluateOnNewDocument", {
        source: variantScript(revision.document, revision.variant),
      });
    await page.goto(url, { waitUntil: "load", timeout: LOAD_MS_MAX }).catch((error: unknown) => {
      const refusal = fresh.readRefusal();
      if (refusal !== undefined) throw new Error(refusal);
      // After a timeout, the page is still captured if it shows a document.
      if (page.url() === "about:blank" || !/Timeout/.test(String(error))) throw error;
    });
    await createDeadline({ ms: REST_MS_MAX }).settles(page.waitForLoadState("networkidle"));
    if (revision) await untilApplied(cdp, revision.variant);
    if (scrollTo !== null) await scrollToElement(page, scrollTo);
    return await page.screenshot({ type: "jpeg", quality: 80, animations: "disabled" });
  } finally {
    await fresh.close();
  }
}

async function scrollToElement(
  page: Awaited<ReturnType<LiveBrowser["openContext"]>>["page"],
  selector: string,
): Promise<void> {
  const found = page.locator(selector);
  if ((await found.count()) === 0) throw new Error(`scrollTo: no element matches ${selector}`);
  await found.first().evaluate((element) =>
    // The method is not read from the element, because a form field named `scrollIntoView` would hide it.
    Element.prototype.scrollIntoView.call(element, { block: "center", behavior: "instant" }),
  );
}

async function storePreviews(
  { log }: Pick<VariantToolServices, "log">,
  { rootSessionId, requestId, runId }: PreviewCall,
  rows: PreviewRow[],
): Promise<void> {
  await log.transact(rootSessionId, async (tx, emit) => {
    const session = await findSession(tx, rootSessionId);
    if (!session) return;
    await replacePreviews(tx, rootSessionId, rows);
    const previews = await listPreviews(tx, rootSessionId);
    emit({ kind: "preview.updated", requestId, runId, source: session.source, previews });
  });
}

/**
 * Converts the `viewport` of a tool's input to the fields of a preview. `viewport` is null if only a size was given.
 */
export const readViewport = (
  viewport: keyof typeof VIEWPORTS | { width: number; height: number },
): Pick<WantedPreview, "viewport" | "width" | "height"> =>
  typeof viewport === "string"
    ? { viewport, ...VIEWPORTS[viewport] }
    : { viewport: null, width: viewport.width, height: viewport.height };
