import type { BrowserService, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { TranscriptReader } from "#lib/session/transcript/transcript.ts";
import type { PageTurns } from "./browser/page-turns.ts";
import type { SnapshotBook } from "./browser/read/snapshot-book.ts";
import type { ScriptHelpers } from "./browser/script/browser-execute.ts";
import type { ScriptRunner } from "./browser/script/script-runner.ts";
import type { ToolCall } from "./tool.ts";

/** The services that tools use. The container provides them. */
export type ToolServices = {
  browser: BrowserService;
  control: Pick<BrowserControl, "holderOf" | "follow" | "untilFree">;
  pageTurns: PageTurns;
  scripts: ScriptRunner;
  sandbox: SandboxService;
  fetch: GuardedFetch;
  evidence: EvidenceStore;
  transcript: TranscriptReader;
  /** The latest snapshots that the model was shown. */
  snapshots: SnapshotBook;
  people: PeoplePort;
  /** Creates the functions that scripts can call in addition to Playwright's. */
  scriptHelpers: ScriptHelpers;
  variants: VariantView;
};

/** Shows variants of the page in the live browser, so that tools can take pictures of the variants. */
export type VariantView = {
  /**
   * Shows the newest revision of a variant in the live page. If `variant` is null, shows the page without a variant.
   *
   * @returns a function that restores what the page showed before.
   * @throws Error with a readable message if the variant is unknown.
   */
  show: (
    call: Pick<ToolCall, "rootSessionId">,
    live: LiveBrowser,
    variant: string | null,
  ) => Promise<() => Promise<void>>;
};

/** The interface with which a tool asks the people on the session page. */
export type PeoplePort = Pick<Elicitations, "ask">;
