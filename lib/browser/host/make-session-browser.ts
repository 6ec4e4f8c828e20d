import type { OpenBrowser } from "../page/open-browser.ts";
import { createStoredRecord } from "../session/browser-record.ts";
import { createSessionBrowser, type SessionBrowser } from "../session/session-browser.ts";
import { createPictureKeeper } from "../view/page-picture.ts";
import { CLOSING, explainNoPlace, type Parts } from "./host-parts.ts";

/** Creates the browser of a session. @throws Error with a readable message if the session has none. */
export async function makeSessionBrowser(parts: Parts, sessionId: string): Promise<SessionBrowser> {
  const { deps, egress, places, nowMs } = parts;
  const { records, logger } = deps;
  if (parts.isClosed) throw new Error(CLOSING);
  const session = await records.readSession(sessionId);
  if (!session) throw new Error(`there is no session ${sessionId}`);
  if (!session.capabilities.browser)
    throw new Error("this session has no browser (capabilities.browser is false)");
  return createSessionBrowser({
    sessionId,
    control: deps.control,
    record: createStoredRecord(
      { records, logger, isPrivate: () => deps.control.isPrivate(sessionId) },
      sessionId,
    ),
    logger,
    requestPlace: (onMove) => places.request(sessionId, onMove),
    placeWait: {
      waitMs: deps.waitMs,
      explain: () => explainNoPlace(deps),
    },
    take: () => takeFromPool(parts, sessionId, session.ownerKey),
    readPageScript: () => deps.readPageScript(sessionId),
    saveSiteData: (change) => records.saveSiteData({ ...change, sessionId }),
    mayStartForViewer: async () => places.hasRoom() && (await records.findOpenTurns([sessionId])).length > 0,
    onUnused: places.recheck,
    createPictureKeeper: (page) =>
      createPictureKeeper({
        ...page,
        sessionId,
        logger,
        isPrivate: () => deps.control.isPrivate(sessionId),
        store: (bytes) => records.keepPicture({ sessionId, mediaType: "image/jpeg", bytes }),
      }),
    refuse: (url) => egress.refuse(url, sessionId),
    onAnnotation: (body) => deps.onAnnotation(sessionId, body),
    hasWorkspace: session.capabilities.sandbox,
    async storeDownload(name, bytes) {
      if (session.capabilities.sandbox) return deps.storeDownload(sessionId, name, bytes);
      throw new Error("this session has no workspace (capabilities.sandbox is false)");
    },
    nowMs,
  });
}

/** Takes a browser for a session, and gives it the session's script and site data. */
async function takeFromPool(
  parts: Parts,
  sessionId: string,
  ownerKey: string | undefined,
): Promise<OpenBrowser> {
  const browser = await parts.pool.take(ownerKey);
  browser.process.nameSession(sessionId);
  try {
    const [script, siteData] = await Promise.all([
      parts.deps.readPageScript(sessionId),
      parts.deps.records.readSiteData({ sessionId }),
    ]);
    // Before anyone can see the browser's pages.
    await parts.deps.control.readHandover(sessionId);
    await Promise.all([browser.scripts.set(script), browser.siteData.restore(siteData)]);
    if (!parts.isClosed) return browser;
  } catch (error) {
    await browser.close();
    throw error;
  }
  await browser.close();
  throw new Error(CLOSING);
}
