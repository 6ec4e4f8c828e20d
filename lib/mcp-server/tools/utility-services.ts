import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import type { PictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import type { PageThreads } from "./page-thread.ts";

/** The services that the built-in server's utilities use. */
export type UtilityServices = {
  fetch: GuardedFetch;
  evidence: EvidenceStore;
  pages: PageTools;
  threads: PageThreads;
  compare: PictureComparer;
};
