import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { TranscriptReader } from "#lib/session/transcript/transcript.ts";
import type { ScriptRunner } from "./browser/script/script-runner.ts";
import type { PeoplePort } from "./people/people-port.ts";

/** The ports that tools work through; the container plugs them in. */
export type ToolServices = {
  browser: BrowserService;
  control: Pick<BrowserControl, "holderOf" | "follow" | "untilFree">;
  scripts: ScriptRunner;
  sandbox: SandboxService;
  fetch: GuardedFetch;
  evidence: EvidenceStore;
  transcript: TranscriptReader;
  people: PeoplePort;
};
