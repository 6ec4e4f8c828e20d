import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import type { ToolResult } from "#lib/tools/tool.ts";
import type { CheckReport } from "./check/check-report.ts";
import type { CheckRequest } from "./check/check-variant.ts";
import type { Grounding, Trial } from "./grounding/ground-changes.ts";
import type { PreviewPicture, PreviewToTake } from "./previews/take-pictures.ts";

/** The check of a revision, without what the caller's call says already. */
export type CheckOrder = Omit<CheckRequest, "live" | "sessionId" | "runId" | "signal" | "onProgress">;

/** The work on live pages that variants need. It is done at the sessions' browser hosts. */
export type VariantPages = {
  /** Returns the address of the page that the live browser shows. Starts the browser if none runs. */
  readUrl: (input: null, call: PageCall) => Promise<string>;
  /** Tries a revision on the live page. @throws Error with a sentence if the page does not answer in time. */
  ground: (trial: Trial, call: PageCall) => Promise<Grounding>;
  /** Takes and keeps a picture of the live page, as the content of a tool result. */
  picture: (about: { title: string }, call: PageCall) => Promise<ToolResult>;
  /** Checks a revision. @throws the signal's reason if the check is stopped; Error if the browser fails. */
  check: (order: CheckOrder, call: PageCall) => Promise<CheckReport>;
  /** Takes and keeps the picture of each preview on a fresh load of its page. */
  previews: (
    previews: PreviewToTake[],
    call: PageCall,
  ) => Promise<{ pictures: PreviewPicture[]; notes: string[] }>;
};
