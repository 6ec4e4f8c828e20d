import type { z } from "zod";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { listAsserted } from "#lib/planning/record-outcomes.ts";
import { ensureLiveBrowser } from "#lib/tools/browser/ensure-live-browser.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import type { checkOptionsSchema } from "./check/check-options.ts";
import type { CheckReport } from "./check/check-report.ts";
import { type CheckRequest, checkVariant } from "./check/check-variant.ts";
import { explainUnknown } from "./show-for-picture.ts";
import { recordCheck } from "./store-revision.ts";
import { findRevision, listVariantKeys } from "./variant-store.ts";
import type { VariantToolServices } from "./variants-deps.ts";

/** The agent's tool call, or a person's request, for which a check is run. */
type CheckCall = Pick<
  ToolCall,
  "sessionId" | "browserSessionId" | "rootSessionId" | "requestId" | "runId" | "signal"
>;

type CheckOptions = z.output<typeof checkOptionsSchema> & Pick<CheckRequest, "variant">;

type CheckOutcome = { ok: true; report: CheckReport } | { ok: false; problem: string };

/**
 * Checks the newest revision of a variant with the session's browser, and stores the report. The caller must have
 * acquired the browser with `holdInTurn` of `lib/tools/browser`. A check that is stopped stores nothing.
 *
 * @throws Error with a sentence if there is no browser, or if the check is stopped.
 */
export async function runCheck(
  services: VariantToolServices,
  call: CheckCall,
  { variant, viewports, ...options }: CheckOptions,
): Promise<CheckOutcome> {
  const { rootSessionId, sessionId, requestId, runId, signal } = call;
  const newest = await findRevision(services.db, rootSessionId, variant);
  if (!newest) {
    const keys = await listVariantKeys(services.db, rootSessionId);
    return { ok: false, problem: explainUnknown(variant, keys) };
  }
  const requirements = await listAsserted(services.db, rootSessionId);
  const live = await ensureLiveBrowser(services.browser, call);
  await faultPoint("check-begun");
  const report = await checkVariant(services, {
    live,
    sessionId,
    runId,
    variant,
    revision: newest.number,
    document: newest.document,
    ...options,
    viewports: [...new Set(viewports)],
    requirements,
    signal,
  });
  services.browser.touch(call.browserSessionId);
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
