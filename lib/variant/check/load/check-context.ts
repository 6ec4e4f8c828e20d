import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { BrowserStorage } from "#lib/browser/page/open-fresh-context.ts";
import type { ViewportName } from "../check-report.ts";
import type { ExaminedChange } from "../examined-changes.ts";
import type { CheckLimits } from "./check-limits.ts";

/** What all loads of one check have in common. */
export type CheckContext = {
  live: Pick<LiveBrowser, "openContext" | "browser">;
  storage: BrowserStorage;
  variant: string;
  /** The published script, byte for byte. */
  script: string;
  limits: CheckLimits;
  /** Fires when the check is stopped or its time is over. */
  signal: AbortSignal;
};

/** A page to examine, at one width. */
export type CheckTarget = {
  url: string;
  viewport: ViewportName;
  /** The changes of the page entries that match the address, without those that are off. */
  changes: ExaminedChange[];
  /** Style sheets of these entries. */
  css: string[];
  /** Ids of changes whose elements come after the page has loaded. */
  late: string[];
  /** Whether all page entries of the target also match this address, to which the page may have redirected. */
  isHere: (url: string) => boolean;
  /** Ids of the changes that apply at an address. */
  idsAt: (url: string) => string[];
};
