import type { Page, Route } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { FreshContext } from "#lib/browser/page/open-fresh-context.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { callInMainFrame } from "../page-kit/tool-world.ts";
import { type ArchivedFile, type PageArchive, readArchive } from "./read-archive.ts";

/** How long the page may take to be archived, and the copy to load. */
const ARCHIVE_MS_MAX = 5_000;
const LOAD_MS_MAX = 5_000;
/** The origin of files that have no http(s) address of their own. No request for it leaves the browser. */
const OWN_ORIGIN = "https://page-copy.invalid";

/** A copy of the session's page. The caller must close it. */
type PageCopy = {
  /** The session's browser, with the copy as its page. */
  live: LiveBrowser;
  close: () => Promise<void>;
};

/**
 * Copies the page that the browser shows into a page of a separate context, without network and without scripts. This
 * also works while a navigation of the page is pending: Chromium then passes no DevTools command to the document, but
 * archives it. The archive lacks what only exists in memory, such as typed values, and elements that are not rendered.
 * See decision 072.
 *
 * @throws Error if the page cannot be archived, for example because it is busy.
 */
export async function openPageCopy(
  live: LiveBrowser,
  viewport = live.page().viewportSize() ?? { width: 1280, height: 800 },
): Promise<PageCopy> {
  const cdp = await live.cdp();
  const { data } = await createDeadline({
    ms: ARCHIVE_MS_MAX,
    lateMessage: "The page could not be read: a navigation of it is pending, and its scripts keep it busy.",
  }).race(cdp.send("Page.captureSnapshot", { format: "mhtml" }));
  const files = readArchive(data);
  const storage = { cookies: [], origins: [] };
  const context = await live.openContext({ viewport, isMobile: false, storage });
  try {
    await show(context, live.page().url(), files);
  } catch (error) {
    await context.close();
    throw error;
  }
  const { page } = context;
  const copy: LiveBrowser = {
    ...live,
    page: () => page,
    cdp: async () => context.cdp,
    context: page.context(),
    hideOverlay: async () => () => {},
    documents: { of: () => undefined, ofNewPages: () => [], follow: () => () => {} },
  };
  return { live: copy, close: context.close };
}

async function show({ page, cdp }: FreshContext, url: string, files: PageArchive): Promise<void> {
  const [main] = files;
  if (!main) throw new Error("The page could not be read: a navigation of it is pending.");
  await Promise.all([
    cdp.send("Emulation.setScriptExecutionDisabled", { value: true }),
    // The page's policy may forbid its style sheets at the addresses that they have in the copy.
    cdp.send("Page.setBypassCSP", { enabled: true }),
  ]);
  const isAddress = /^https?:/.test(url);
  await serve(page, isAddress ? url : `${OWN_ORIGIN}/`, files);
  // An address like `about:blank` cannot be served.
  if (isAddress) await page.goto(url, { waitUntil: "load", timeout: LOAD_MS_MAX }).catch(() => {});
  else await page.setContent(main.body.toString(), { timeout: LOAD_MS_MAX });
  // The archive has no scripts. Without scripting, timers of the tools' own code would not run either.
  await cdp.send("Emulation.setScriptExecutionDisabled", { value: false });
  await callInMainFrame(page, "removeOverlay", []);
}

/** Answers all requests of the page from the archive. */
async function serve(page: Page, pageUrl: string, files: PageArchive): Promise<void> {
  const served = new Map<string, ArchivedFile>();
  const names = new Map<string, string>();
  for (const [index, file] of files.entries()) {
    const ownUrl = `${OWN_ORIGIN}/${index}`;
    const shownUrl = index === 0 ? pageUrl : /^https?:/.test(file.url) ? file.url : ownUrl;
    served.set(withoutFragment(shownUrl), file);
    served.set(ownUrl, file);
    for (const name of file.names) names.set(name, shownUrl);
  }
  const rewrite = (file: ArchivedFile) =>
    /^text\/(html|css)/.test(file.mediaType)
      ? file.body
          .toString()
          .replace(/cid:[\w.-]+@mhtml\.blink/g, (name) => names.get(name) ?? name)
          .replaceAll("<template shadowmode=", "<template shadowrootmode=")
      : file.body;
  await page.route("**/*", (route: Route) => {
    const file = served.get(withoutFragment(route.request().url()));
    return file
      ? route.fulfill({ status: 200, contentType: file.mediaType, body: rewrite(file) })
      : route.abort();
  });
}

const withoutFragment = (url: string): string => url.split("#", 1)[0] ?? url;
