import type { Logger } from "#lib/log/logger.ts";
import type { AddressRule } from "#lib/net/address/address-rule.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type { BrowserRecords } from "../browser-records.ts";
import type { AnnotationVerdict } from "../overlay/overlay-controller.ts";
import type { PageScript } from "../page/page-script.ts";
import type { BrowserEgress, ServiceOrigin } from "../process/browser-egress.ts";
import type { BrowserPool } from "../process/browser-pool.ts";
import type { BrowserProvider } from "../process/browser-provider.ts";
import type { PageLimits } from "../process/page-limits.ts";
import type { BrowserPlaces } from "../session/browser-places.ts";
import type { SessionBrowsers } from "../session/session-browsers.ts";
import type { PERSON_MS_MAX } from "../stage/people-dialogs.ts";
import type { ControlState } from "../stage/session-stage.ts";

/** Dependencies and settings of a host's browsers. Times are in milliseconds. */
export type HostBrowsersDeps = {
  records: BrowserRecords;
  logger: Logger;
  control: ControlState;
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
  /**
   * How many sessions of one owner may share a Chromium, each with a context of its own; 1 by default. A remote browser
   * is not shared.
   */
  contextsPerProcess?: number | undefined;
  /** What pages of local browsers may take; the rest is as in `PAGE_LIMITS`. */
  pageLimits?: Partial<PageLimits> | undefined;
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
  /** How long a person who has control may take to answer a dialog. */
  personMsMax?: typeof PERSON_MS_MAX;
  /** How long reading the bytes of a download may take; 60 s by default. */
  downloadTimeoutMs?: number;
};

/** The settings of a host that belong to its machine. */
export type MachineSettings = Pick<
  HostBrowsersDeps,
  "launch" | "dataDir" | "maxLive" | "contextsPerProcess" | "pageLimits"
>;

/** What the browsers of a host consist of. */
export type Parts = {
  deps: HostBrowsersDeps;
  nowMs: () => number;
  egress: BrowserEgress;
  provider: BrowserProvider;
  pool: BrowserPool;
  places: BrowserPlaces;
  browsers: SessionBrowsers;
  isClosed: boolean;
};

export const CLOSING = "the browser host is closing";

/** Explains why a session or a lease got no place in time. */
export const explainNoPlace = ({ waitMs, maxLive }: HostBrowsersDeps) =>
  `no browser became free within ${waitMs / 1_000} s: all ${maxLive} are in use (BROWSER_MAX_LIVE); try again later`;
