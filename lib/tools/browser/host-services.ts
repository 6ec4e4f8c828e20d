import type { HostBrowsers, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { HostControl } from "#lib/browser/view/host-control.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { ToolCall } from "../tool.ts";
import type { PageTurns } from "./page-turns.ts";
import type { PageRecorder } from "./picture/page-recorder.ts";
import type { SnapshotBook } from "./read/snapshot-book.ts";
import type { ScriptRunner } from "./script/script-runner.ts";
import type { ScriptFiles, ScriptHelper } from "./script/script-types.ts";

/** The services that tools on the live page use. They are those of the browser host. */
export type HostServices = {
  browser: HostBrowsers;
  control: Pick<HostControl, "beginScript" | "untilFree" | "takeNote" | "isPrivate" | "follow">;
  pageTurns: PageTurns;
  scripts: ScriptRunner;
  /** Returns the files of a root session's workspace. */
  files: (rootSessionId: string) => ScriptFiles;
  evidence: Pick<EvidenceStore, "save">;
  /** The latest snapshots that the model was shown. */
  snapshots: SnapshotBook;
  recorder: PageRecorder;
  /** Creates the functions that a script can call as `page.<name>`. Called once for each tool call. */
  scriptHelpers: (call: ToolCall) => Record<string, ScriptHelper>;
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
