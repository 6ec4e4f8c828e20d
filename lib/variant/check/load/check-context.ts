import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { BrowserStorage } from "#lib/browser/page/open-fresh-context.ts";
import type { ViewportName } from "../check-report.ts";
import type { ExaminedChange } from "../examined-changes.ts";
import type { CheckLimits } from "./check-limits.ts";

/** Values that all page loads of one check share. */
export type CheckContext = {
  live: Pick<LiveBrowser, "openContext" | "browser">;
  storage: BrowserStorage;
  variant: string;
  /** The script of the variant, exactly as it would be published. */
  script: string;
  limits: CheckLimits;
  /** Fires when the check is stopped or its time is over. */
  signal: AbortSignal;
};

/** A page to examine, at one width. */
export type CheckTarget = {
  url: string;
  viewport: ViewportName;
  /** The changes of all page entries that match `url`, without those that are switched off. */
  changes: ExaminedChange[];
  /** The style sheets of the page entries that match `url`. */
  css: string[];
  /** Ids of the changes that are marked as late: their elements appear only after the page has loaded. */
  late: string[];
  /**
   * Whether the page entries that match `url` all match this address too. Tells whether a redirect led to a different page.
   */
  isHere: (url: string) => boolean;
  /** Ids of the changes whose page entry matches an address. */
  idsAt: (url: string) => string[];
};
