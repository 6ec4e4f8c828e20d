import type { RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import { parseReport, reportExpression } from "../../runtime-report.ts";
import type { PageLoad } from "./open-load.ts";

/**
 * Reads the runtime's report on the current document. Undefined if the page has no valid report. The page can forge the
 * report, so the check also reads from the document itself whether changes are applied.
 */
export const readReport = async (load: PageLoad, variant: string): Promise<RuntimeReport | undefined> =>
  parseReport(await load.evaluateInPage(reportExpression(variant)));
