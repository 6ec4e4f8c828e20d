import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { BrowserStorage } from "#lib/browser/page/open-fresh-context.ts";
import type { ExaminedChange } from "#lib/injected/check/examined-change.ts";
import type { RecordedClick } from "#lib/tools/browser/script/record-clicks.ts";
import type { ViewportName } from "../check-report.ts";
import type { CheckLimits } from "./check-limits.ts";

/**
 * How a page loads the published script: with `async`, so that the page does not wait for it, or without, so that
 * nothing is parsed or painted before the script has run.
 */
export type ScriptTag = "async" | "blocking";

/** Values that all page loads of one check share. */
export type CheckContext = {
  live: Pick<LiveBrowser, "openContext">;
  storage: BrowserStorage;
  variant: string;
  /** The script of the variant. The published script differs only in its key and in an additional comment. */
  script: string;
  /** How the page loads the script. */
  tag: ScriptTag;
  /** Address of the script in the tag. It has the form of a published script's address. */
  tagUrl: string;
  /** Pages that cannot be served with the tag, by address without query, each with the reason. */
  untagged: Map<string, string>;
  limits: CheckLimits;
  /** Whether the check may send requests with effects, such as POST. */
  allowSubmits: boolean;
  /** The latest clicks in the live browser. They may show how what is hidden is opened. */
  clicks: RecordedClick[];
  /** Aborted when the check is stopped or exceeds its time limit. */
  signal: AbortSignal;
};

/** A page to examine, at one viewport width. */
export type CheckTarget = {
  url: string;
  viewport: ViewportName;
  /** Clicks that open what is behind an interaction. `field` names the step in the request. */
  open: { field: string; selector: string }[];
  /** The changes of the entries in the document's `pages` that match `url`. Changes that are off are left out. */
  changes: ExaminedChange[];
  /** The style sheets of the entries in the document's `pages` that match `url`. */
  css: string[];
  /** Whether one of these entries has a script. */
  hasScript: boolean;
  /** The entries with the match `prefix`. */
  prefixes: string[];
  /** Ids of the late changes. Their elements appear only after the page has loaded. */
  late: string[];
  /**
   * Whether all entries in the document's `pages` that match the target's `url` also match the address that is passed.
   * If not, a redirect has led to a different page.
   */
  isHere: (url: string) => boolean;
  /** Lists the ids of the changes that apply to an address. */
  idsAt: (url: string) => string[];
};
