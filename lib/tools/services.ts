import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { Handovers } from "#lib/session/inbox/handovers.ts";
import type { TranscriptReader } from "#lib/session/transcript/transcript.ts";
import type { PageTools } from "./browser/page-tools.ts";

/** The services that tools use. The container provides them. */
export type ToolServices = {
  /** The work on live pages. */
  pages: PageTools;
  control: Pick<BrowserControl, "holderOf">;
  browser: Pick<BrowserService, "noteHandover">;
  handovers: Handovers;
  sandbox: SandboxService;
  fetch: GuardedFetch;
  evidence: EvidenceStore;
  transcript: TranscriptReader;
  people: PeoplePort;
};

/** The interface with which a tool asks the people on the session page. */
export type PeoplePort = Pick<Elicitations, "ask">;
