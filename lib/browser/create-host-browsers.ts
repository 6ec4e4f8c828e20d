import { join } from "node:path";
import type { Logger } from "#lib/log/logger.ts";
import type { AddressRule } from "#lib/net/address/address-rule.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type { BrowserRecords } from "./browser-records.ts";
import type { BrowserLease, HostBrowsers, HostPlaces } from "./browser-service.ts";
import type { AnnotationVerdict } from "./overlay/overlay-controller.ts";
import { type OpenBrowser, openBrowser } from "./page/open-browser.ts";
import type { PageScript } from "./page/page-script.ts";
import { type BrowserEgress, createBrowserEgress, type ServiceOrigin } from "./process/browser-egress.ts";
import { type BrowserPool, createBrowserPool } from "./process/browser-pool.ts";
import type { BrowserProvider } from "./process/browser-provider.ts";
import { acceptOwnKey } from "./process/chromium-flags.ts";
import { createLocalProvider } from "./process/local-provider.ts";
import { sweepBrowsers } from "./process/profile-folder.ts";
import { createRemoteProvider } from "./process/remote-provider.ts";
import { identityFlags } from "./process/visitor-identity.ts";
import { type BrowserPlaces, createBrowserPlaces } from "./session/browser-places.ts";
import { createStoredRecord } from "./session/browser-record.ts";
import { createSessionBrowser, type SessionBrowser } from "./session/session-browser.ts";
import { createSessionBrowsers, type SessionBrowsers } from "./session/session-browsers.ts";
import { endIdle, endUnused } from "./session/unused-browsers.ts";
import { createPictureKeeper } from "./view/page-picture.ts";

/** Dependencies and settings of a host's browsers. Times are in milliseconds. */
export type HostBrowsersDeps = {
  records: BrowserRecords;
  logger: Logger;
  /**
   * The Chromium to use: the DevTools endpoint `cdpUrl` if set, otherwise the program `executablePath` on this machine.
   * If neither is set, no browsers run.
   */
  launch: { executablePath?: string; args?: string[]; env?: Record<string, string>; cdpUrl?: string };
  dataDir: string;
  /** The network guard's rule, which decides which addresses pages may open. */
  rule: AddressRule;
  /**
   * The origin at which the service listens; for several processes, a function that lists their origins. Of these
   * origins, pages can open only `/demo`, `/p/…` and `/v/…`.
   */
  ownOrigin: ServiceOrigin | (() => readonly ServiceOrigin[]) | undefined;
  /** Called with each browser request that the network guard refused. */
  onRequestRefused?: (refusal: NetworkRefusal) => void;
  idleMs: number;
  /**
   * The largest number of browsers that sessions and leases run at the same time. The spare browser does not
   * count.
   */
  maxLive: number;
  /** How long a caller waits for a free place before its call fails. */
  waitMs: number;
  /**
   * Stores what a person submits in the annotation overlay. `body` is a request body for the annotation webhook, as
   * JSON text. If the submission is refused, the overlay shows the reason to the person.
   */
  onAnnotation: (sessionId: string, body: string) => Promise<AnnotationVerdict>;
  /**
   * Stores a file in the session's workspace. The file is a download that a page offered.
   * @returns the file's path in the workspace. @throws Error with a readable message when the file cannot be stored.
   */
  storeDownload: (sessionId: string, name: string, bytes: Uint8Array) => Promise<string>;
  /** Reads the script that the service runs in the pages of a session. */
  readPageScript: (sessionId: string) => Promise<PageScript>;
  /** Replaces the clock of the process, `performance.now`, in tests. Returns milliseconds, and never goes back. */
  clockMs?: () => number;
  /**
   * Whether pages may see that the browsers are automated: `navigator.webdriver`, and "Headless" in the user agent. By
   * default true. A remote browser decides that itself.
   */
  webdriver?: boolean;
  /** Whether to keep a spare browser for the next session. By default true. A remote browser has none. */
  keepSpare?: boolean;
  /** How long a page's server may take to answer; 30 s by default. */
  navigationTimeoutMs?: number;
  /** How long a script of the agent that listens for dialogs may take to answer a dialog; 10 s by default. */
  dialogTimeoutMs?: number;
  /** How long reading the bytes of a download may take; 60 s by default. */
  downloadTimeoutMs?: number;
};

const NAVIGATION_TIMEOUT_MS = 30_000;

type Parts = {
  deps: HostBrowsersDeps;
  nowMs: () => number;
  egress: BrowserEgress;
  provider: BrowserProvider;
  pool: BrowserPool;
  places: BrowserPlaces;
  browsers: SessionBrowsers;
  isClosed: boolean;
};

/** Creates the browsers of a host. First ends the browsers that an earlier host left in the data folder. */
export async function createHostBrowsers(deps: HostBrowsersDeps): Promise<HostBrowsers & HostPlaces> {
  const folder = join(deps.dataDir, "browsers");
  const parts = assemble(deps, folder);
  const { pool, provider, browsers, places } = parts;
  // Only local browsers leave processes and profile folders on this machine.
  if (deps.launch.cdpUrl === undefined) await sweepBrowsers(folder);
  const listLive = () => browsers.list().flatMap(([id, browser]) => (browser.isLive() ? [id] : []));
  return {
    ...createSessionCalls(parts),
    lease: (signal) => lease(parts, signal),
    warmUp() {
      if (provider.describe().available) pool.warmUp();
    },
    async refreshPageScripts(sessionIds) {
      await Promise.all(sessionIds.map((sessionId) => browsers.peek(sessionId)?.refreshPageScript()));
    },
    async reapIdle(recorded) {
      browsers.dropResting(parts.nowMs());
      const ended = await endIdle(parts);
      await dropUnfounded(parts, recorded);
      return ended;
    },
    async closeSession(sessionId) {
      const browser = await browsers.remove(sessionId);
      await browser?.end();
    },
    handOver: (sessionId) => browsers.peek(sessionId)?.handOver(),
    offerPlaces: places.offer,
    listLive,
    listUp: () => browsers.list().flatMap(([id, browser]) => (browser.isUp() ? [id] : [])),
    describe() {
      const live = browsers.list().filter(([, browser]) => browser.isUp()).length;
      return { ...provider.describe(), live };
    },
    async close() {
      parts.isClosed = true;
      await Promise.all([...browsers.list().map(([, browser]) => browser.end()), pool.close()]);
    },
  };
}

/** Records the end of browsers that are recorded as running here, but do not run or start any more. */
async function dropUnfounded({ deps, browsers }: Parts, recorded: readonly string[]): Promise<void> {
  for (const sessionId of recorded) {
    if (browsers.peek(sessionId)?.isLive()) continue;
    await createStoredRecord(deps, sessionId)
      .dropClaim()
      .catch((error) => deps.logger.warn({ sessionId, err: error }, "the end of a browser was not recorded"));
  }
}

function assemble(deps: HostBrowsersDeps, folder: string): Parts {
  const { logger, launch } = deps;
  const egress = createBrowserEgress(deps.rule, deps.ownOrigin, logger, deps.onRequestRefused);
  const provider = chooseProvider(deps, folder, egress);
  const settings = {
    logger,
    navigationTimeoutMs: deps.navigationTimeoutMs ?? NAVIGATION_TIMEOUT_MS,
    dialogTimeoutMs: deps.dialogTimeoutMs,
    downloadTimeoutMs: deps.downloadTimeoutMs,
  };
  const pool = createBrowserPool({
    open: () => openBrowser(provider, egress, settings),
    keepSpare: launch.cdpUrl === undefined && (deps.keepSpare ?? true),
    logger,
  });
  const places = createBrowserPlaces({
    max: deps.maxLive,
    endUnused: (count) => endUnused(parts, count),
    takeNext: async () => (await deps.records.takeNext(null)) ?? undefined,
    seekElsewhere: (count) =>
      void deps.records
        .seekElsewhere({ count })
        .catch((error: unknown) => logger.debug({ err: error }, "no other host was asked for places")),
    onError: (error) => logger.warn({ err: error }, "no place could be found for a waiting session"),
  });
  const browsers = createSessionBrowsers((sessionId) => makeSessionBrowser(parts, sessionId));
  const nowMs = deps.clockMs ?? (() => performance.now());
  const parts: Parts = {
    deps,
    nowMs,
    egress,
    provider,
    pool,
    places,
    browsers,
    isClosed: false,
  };
  return parts;
}

function chooseProvider(
  { launch, logger, webdriver = true }: HostBrowsersDeps,
  folder: string,
  egress: BrowserEgress,
): BrowserProvider {
  if (launch.cdpUrl !== undefined) return createRemoteProvider({ cdpUrl: launch.cdpUrl, egress, logger });
  const { executablePath, args = [], env = {} } = launch;
  if (executablePath !== undefined) {
    return createLocalProvider({ launch: { executablePath, args, env }, folder, egress, logger, webdriver });
  }
  const described = describeLaunch(launch);
  const fail = () => Promise.reject(new Error(described.detail));
  return { start: fail, readIdentity: fail, describe: () => described };
}

/** Describes which Chromium the settings choose, before it was tried. */
export function describeLaunch({ cdpUrl, executablePath }: HostBrowsersDeps["launch"]): {
  available: boolean;
  detail: string;
} {
  if (cdpUrl !== undefined)
    return { available: true, detail: `remote browser at ${URL.parse(cdpUrl)?.host ?? "an invalid URL"}` };
  if (executablePath !== undefined) return { available: true, detail: `Chromium at ${executablePath}` };
  return {
    available: false,
    detail: "no Chromium was found: set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL",
  };
}

/** Creates the methods that act on the browser of one session. */
function createSessionCalls({ deps, browsers }: Parts) {
  const { logger } = deps;
  return {
    ensure: async (sessionId, signal) => (await browsers.get(sessionId)).ensure(signal),
    hold: async (sessionId, signal) => (await browsers.get(sessionId)).hold(signal),
    open: async (sessionId) => (await browsers.get(sessionId)).open(),
    goTo: async (sessionId, url, retargets) => (await browsers.get(sessionId)).goTo(url, retargets),
    navigate: async (sessionId, url, signal) => (await browsers.get(sessionId)).navigate(url, signal),
    history: async (sessionId, action) => (await browsers.get(sessionId)).history(action),
    settle: async (sessionId) => browsers.peek(sessionId)?.settle(),
    takeRestartNote: (sessionId) => browsers.peek(sessionId)?.takeRestartNote(),
    readLastError: async (sessionId) => (await deps.records.read(sessionId))?.lastError ?? null,
    touch: (sessionId) => browsers.peek(sessionId)?.touch(),
    watch(sessionId, listeners) {
      let stop: (() => void) | undefined;
      let isOver = false;
      browsers.get(sessionId).then(
        (browser) => {
          if (!isOver) stop = browser.watch(listeners);
        },
        (error) => logger.debug({ sessionId, err: error }, "no browser for a viewer to watch"),
      );
      return () => {
        isOver = true;
        stop?.();
        stop = undefined;
      };
    },
    input: async (sessionId, input) => (await browsers.get(sessionId)).input(input),
    readCursor: async (sessionId, x, y) => (await browsers.peek(sessionId)?.readCursor(x, y)) ?? "default",
  } satisfies Partial<HostBrowsers>;
}

/** Implements {@link HostBrowsers.lease}. */
async function lease({ deps, egress, places, provider }: Parts, signal: AbortSignal): Promise<BrowserLease> {
  const { executablePath, args = [], env = {}, cdpUrl } = deps.launch;
  if (cdpUrl !== undefined || executablePath === undefined)
    throw new Error(
      "this deployment has no local Chromium that could run in addition to the sessions' browsers",
    );
  signal.throwIfAborted();
  const ticket = places.request(undefined, () => {});
  const leave = () => ticket.release(signal.reason as Error);
  signal.addEventListener("abort", leave, { once: true });
  const timeout = setTimeout(() => ticket.release(new Error(explainNoPlace(deps))), deps.waitMs);
  try {
    await ticket.granted;
    clearTimeout(timeout);
    const identity = await provider.readIdentity();
    const proxy = await egress.startProxy({ acceptsKey: true });
    return {
      executablePath,
      args: [...args, ...acceptOwnKey(proxy.ownKeyHash), ...identityFlags(identity)],
      env,
      identity: identity ?? null,
      proxyPort: Number(new URL(proxy.server).port),
      listRefusals: async () => proxy.listRefusals(),
      async release() {
        ticket.release();
        await proxy.close();
      },
    };
  } catch (error) {
    ticket.release();
    throw error;
  } finally {
    clearTimeout(timeout);
    signal.removeEventListener("abort", leave);
  }
}

async function makeSessionBrowser(parts: Parts, sessionId: string): Promise<SessionBrowser> {
  const { deps, egress, places, nowMs } = parts;
  const { records, logger } = deps;
  if (parts.isClosed) throw new Error(CLOSING);
  const session = await records.readSession(sessionId);
  if (!session) throw new Error(`there is no session ${sessionId}`);
  if (!session.capabilities.browser)
    throw new Error("this session has no browser (capabilities.browser is false)");
  return createSessionBrowser({
    sessionId,
    record: createStoredRecord({ records, logger }, sessionId),
    logger,
    requestPlace: (onMove) => places.request(sessionId, onMove),
    placeWait: {
      waitMs: deps.waitMs,
      explain: () => explainNoPlace(deps),
    },
    take: () => takeFromPool(parts, sessionId),
    readPageScript: () => deps.readPageScript(sessionId),
    saveSiteData: (change) => records.saveSiteData({ ...change, sessionId }),
    mayStartForViewer: async () => places.hasRoom() && (await records.findOpenTurns([sessionId])).length > 0,
    onUnused: places.recheck,
    createPictureKeeper: (page) =>
      createPictureKeeper({
        ...page,
        sessionId,
        logger,
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

const explainNoPlace = ({ waitMs, maxLive }: HostBrowsersDeps) =>
  `no browser became free within ${waitMs / 1_000} s: all ${maxLive} are in use (BROWSER_MAX_LIVE); try again later`;

async function takeFromPool(parts: Parts, sessionId: string): Promise<OpenBrowser> {
  const browser = await parts.pool.take();
  browser.process.nameSession(sessionId);
  try {
    const [script, siteData] = await Promise.all([
      parts.deps.readPageScript(sessionId),
      parts.deps.records.readSiteData({ sessionId }),
    ]);
    await Promise.all([browser.scripts.set(script), browser.siteData.restore(siteData)]);
    if (!parts.isClosed) return browser;
  } catch (error) {
    await browser.close();
    throw error;
  }
  await browser.close();
  throw new Error(CLOSING);
}

const CLOSING = "the browser host is closing";
