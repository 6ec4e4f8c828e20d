import { z } from "zod";
import type { RuntimeReport } from "../../runtime/runtime-types.ts";
import type { PageLoad } from "./open-load.ts";

const reportSchema = z.object({
  url: z.string(),
  pages: z.number(),
  isHydrating: z.boolean(),
  scriptError: z.string().nullable(),
  changes: z.array(
    z.object({
      id: z.string(),
      state: z.enum(["waiting", "applied", "fight", "error"]),
      matches: z.number(),
      applied: z.number(),
      reapplied: z.number(),
      appliedAtMs: z.number().nullable(),
      error: z.string().nullable(),
    }),
  ),
});

/**
 * Reads the runtime's report on the current document. Undefined if the page has no valid report. The page can forge the
 * report, so the check also reads from the document itself whether changes are applied.
 */
export async function readReport(load: PageLoad, variant: string): Promise<RuntimeReport | undefined> {
  const expression = `window.__agentSessionVariants?.[${JSON.stringify(variant)}]?.report()`;
  return reportSchema.safeParse(await load.evaluateInPage(expression)).data;
}
