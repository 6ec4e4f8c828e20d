import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { copyStorage } from "#lib/browser/page/copy-storage.ts";
import type { BrowserStorage } from "#lib/browser/page/open-fresh-context.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { errorText } from "#lib/text/error-text.ts";
import { shorten } from "#lib/text/shorten.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import { variantScript } from "../compile/variant-script.ts";
import type { VariantDocument } from "../document.ts";
import { untilApplied } from "../variant-in-page.ts";

/** A preview whose picture is to be taken. `document` is the variant's newest revision; null for the page without one. */
export type PreviewToTake = {
  title: string;
  url: string;
  width: number;
  height: number;
  isMobile: boolean;
  scrollTo: string | null;
  variant: string | null;
  document: VariantDocument | null;
};

/** The picture of a preview, or why there is none. The reason may contain text of the page. */
export type PreviewPicture = { evidenceId: string } | { error: string };

const PAGE_MS_MAX = 25_000;
const LOAD_MS_MAX = 15_000;
/** Maximum length of a preview's error, which may contain text of the page. */
const ERROR_CHARS_MAX = 500;
/** Time limit for the wait until the page makes no more requests after the load event. */
const REST_MS_MAX = 3_000;

/**
 * Takes and keeps the picture of each preview on a fresh load of its page. The notes say what of the browser's state could
 * not be copied.
 *
 * @throws the signal's reason if the call is stopped.
 */
export async function takePreviewPictures(
  evidence: Pick<EvidenceStore, "save">,
  live: LiveBrowser,
  previews: readonly PreviewToTake[],
  call: PageCall,
): Promise<{ pictures: PreviewPicture[]; notes: string[] }> {
  const { storage, left } = await copyStorage(live);
  const pictures: PreviewPicture[] = [];
  // The pictures are taken one after the other, because each needs its own browser page, which costs memory.
  for (const preview of previews) pictures.push(await takeOne(evidence, live, storage, preview, call));
  return { pictures, notes: left };
}

async function takeOne(
  evidence: Pick<EvidenceStore, "save">,
  live: LiveBrowser,
  storage: BrowserStorage,
  preview: PreviewToTake,
  { sessionId, runId, signal }: PageCall,
): Promise<PreviewPicture> {
  const { title, url, variant, document } = preview;
  if (variant !== null && document === null) return { error: `there is no variant ${variant}` };
  try {
    const bytes = await pageDeadline(signal, PAGE_MS_MAX).race(() => takePicture(live, storage, preview));
    const about = { kind: "preview", title, url, mediaType: "image/jpeg" } as const;
    const { id } = await evidence.save({ sessionId, runId, ...about, bytes });
    return { evidenceId: id };
  } catch (error) {
    signal.throwIfAborted();
    const [reason = ""] = errorText(error).split("\n");
    return { error: shorten(reason, ERROR_CHARS_MAX) };
  }
}

/**
 * Loads the page in a new browser context, with a copy of the live browser's cookies and storage, and captures the
 * viewport.
 */
async function takePicture(
  live: LiveBrowser,
  storage: BrowserStorage,
  { url, width, height, isMobile, scrollTo, variant, document }: PreviewToTake,
): Promise<Uint8Array> {
  const fresh = await live.openContext({ viewport: { width, height }, isMobile, storage });
  try {
    const { page, cdp } = fresh;
    const reason = await fresh.refuse(url);
    if (reason !== undefined) throw new Error(reason);
    if (variant !== null && document !== null)
      await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: variantScript(document, variant) });
    await page.goto(url, { waitUntil: "load", timeout: LOAD_MS_MAX }).catch((error: unknown) => {
      const refusal = fresh.readRefusal();
      if (refusal !== undefined) throw new Error(refusal);
      // After a timeout, the page is still captured if it shows a document.
      if (page.url() === "about:blank" || !/Timeout/.test(String(error))) throw error;
    });
    await createDeadline({ ms: REST_MS_MAX }).settles(page.waitForLoadState("networkidle"));
    if (variant !== null && document !== null) await untilApplied(cdp, variant);
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
