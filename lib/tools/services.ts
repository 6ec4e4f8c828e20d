import type { BrowserControl } from "#lib/browser/browser-control.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { GuardedFetch } from "#lib/net/guarded-fetch.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { EvidenceStore } from "#lib/session/evidence.ts";
import type { TranscriptReader } from "#lib/session/transcript.ts";
import type { ScriptRunner } from "./browser/script-runner.ts";
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
