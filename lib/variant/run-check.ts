import type { z } from "zod";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { listAsserted } from "#lib/planning/record-outcomes.ts";
import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import type { checkOptionsSchema } from "./check/check-options.ts";
import type { CheckReport } from "./check/check-report.ts";
import { explainUnknown } from "./show-for-picture.ts";
import { recordCheck } from "./store-revision.ts";
import type { CheckOrder } from "./variant-pages.ts";
import { findRevision, listVariantKeys } from "./variant-store.ts";
import type { VariantToolServices } from "./variants-deps.ts";

type CheckOptions = z.output<typeof checkOptionsSchema> & Pick<CheckOrder, "variant">;

type CheckOutcome = { ok: true; report: CheckReport } | { ok: false; problem: string };

/**
 * Checks the newest revision of a variant with the session's browser, and stores the report. The caller must have
 * acquired the browser with `hold`. A check that is stopped stores nothing.
 *
 * @throws Error with a sentence if there is no browser, or if the check is stopped.
 */
export async function runCheck(
  services: VariantToolServices,
  call: PageCall,
  { variant, viewports, ...options }: CheckOptions,
): Promise<CheckOutcome> {
  const { rootSessionId, requestId, runId } = call;
  const newest = await findRevision(services.db, rootSessionId, variant);
  if (!newest) {
    const keys = await listVariantKeys(services.db, rootSessionId);
    return { ok: false, problem: explainUnknown(variant, keys) };
  }
  const requirements = await listAsserted(services.db, rootSessionId);
  await faultPoint("check-begun");
  const { number: revision, document } = newest;
  const order = { variant, revision, document, ...options, viewports: [...new Set(viewports)], requirements };
  const report = await services.pages.check(order, call);
  const stored = await recordCheck(
    services,
    { sessionId: rootSessionId, requestId, runId },
    report,
    requirements,
  );
  return stored
    ? { ok: true, report: stored }
    : { ok: false, problem: "The revision was removed while it was checked." };
}
