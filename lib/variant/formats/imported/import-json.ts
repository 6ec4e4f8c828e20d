import { z } from "zod";
import { checkDocumentContent } from "../../compile/check-document.ts";
import { variantDocumentSchema } from "../../document.ts";
import { describeProblem } from "../../revise.ts";
import { type Imported, parsePart } from "./imported.ts";

/** Schema of the service's own JSON export. The fields that the export adds to a document are optional. */
const exportSchema = variantDocumentSchema.extend({
  format: z.literal("agent-session-variant", { error: "must be agent-session-variant" }).optional(),
  version: z.literal(1, { error: "must be 1" }).optional(),
  variant: z.string().optional(),
  revision: z.int().optional(),
});

/** Imports a JSON export of the service. If there is any problem, nothing is imported. */
export function importJson(value: unknown): Imported {
  const parsed = parsePart(exportSchema, value, "document");
  if (!parsed.ok) return parsed;
  const { pages } = parsed.value;
  const [problem] = checkDocumentContent({ pages });
  if (problem) return { ok: false, problem: `document: ${describeProblem({ pages }, problem)}` };
  return { ok: true, pages, omitted: [] };
}
