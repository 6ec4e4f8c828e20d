import { z } from "zod";
import { lacksApproval } from "#lib/tools/approval-gate.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import { applyVariant } from "../apply-variant.ts";
import { changeInputSchema, DEFAULT_VARIANT, VARIANT_LIMITS, variantKeySchema } from "../document.ts";
import type { VariantsDeps } from "../variants-deps.ts";

const changesSchema = z.array(changeInputSchema).min(1).max(VARIANT_LIMITS.changesMax);
const optionsSchema = z.strictObject({ variant: variantKeySchema.default(DEFAULT_VARIANT) }).default({
  variant: DEFAULT_VARIANT,
});

const NEEDS_APPROVAL =
  "page.applyVariant: nothing was changed, because apply_variant needs a person's approval. Call the tool apply_variant instead: it waits for the approval.";

/**
 * `page.applyVariant(changes, { variant })` in scripts: does the same as `apply_variant` with `add`. Available only in
 * runs that have the tool `apply_variant`. Fails if calls of that tool need approval: a script cannot wait for a person.
 */
export const variantHelpers =
  (deps: VariantsDeps): HostServices["scriptHelpers"] =>
  (call) => {
    if (!call.hasTool("apply_variant")) return {};
    let calls = 0;
    return {
      async applyVariant(changes, options) {
        const add = parse(changesSchema, changes, "changes");
        const { variant } = parse(optionsSchema, options, "options");
        if (await lacksApproval(deps.db, call, "apply_variant")) throw new Error(NEEDS_APPROVAL);
        calls += 1;
        const applied = await applyVariant(deps, {
          sessionId: call.rootSessionId,
          requestId: call.requestId,
          runId: call.runId,
          callId: `${call.callId}-${calls}`,
          variant,
          baseRevision: null,
          change: { add },
          page: call,
        });
        if (!applied.ok) throw new Error(`page.applyVariant: ${applied.problem}`);
        const { summary, grounding } = applied;
        const notes = [...applied.renamed, ...applied.returned, ...(grounding?.cssProblems ?? [])];
        return {
          variant: summary.key,
          revision: summary.revision,
          matches: grounding?.matches ?? {},
          ...(notes.length > 0 && { notes }),
        };
      },
    };
  };

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  throw new Error(`page.applyVariant: ${name}${path.join("")}: ${issue?.message ?? "is invalid"}`);
}
