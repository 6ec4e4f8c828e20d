import { z } from "zod";
import { approveScriptCall } from "#lib/session/inbox/approvals.ts";
import { lacksApproval } from "#lib/tools/approval-gate.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { applyVariant } from "../apply-variant.ts";
import { changeInputSchema, DEFAULT_VARIANT, VARIANT_LIMITS, variantKeySchema } from "../document.ts";
import type { VariantsDeps } from "../variants-deps.ts";

const changesSchema = z.array(changeInputSchema).min(1).max(VARIANT_LIMITS.changesMax);
const optionsSchema = z.strictObject({ variant: variantKeySchema.default(DEFAULT_VARIANT) }).default({
  variant: DEFAULT_VARIANT,
});

const DAY_MS = 86_400_000;
const UNCHANGED = "page.applyVariant: nothing was changed, because apply_variant needs a person's approval";

/**
 * Lets a call pass that is approved. Otherwise opens an item of the inbox for it.
 * @throws Error with a sentence for the model that names the item.
 */
async function passApproval(deps: VariantsDeps, call: ToolCall, input: unknown): Promise<void> {
  if (!(await lacksApproval(deps.db, call, "apply_variant"))) return;
  const { sessionId, runId, callId, mayAskPeople, answerTimeoutMs = DAY_MS } = call;
  if (runId === null || !mayAskPeople)
    throw new Error(`${UNCHANGED}, and no person can be asked. Do not call it again.`);
  const approval = await approveScriptCall(deps, {
    sessionId,
    runId,
    call: { toolCallId: callId, toolName: "apply_variant", input },
    timeoutMs: answerTimeoutMs,
  });
  if (approval.state === "approved") return;
  if (approval.state === "waiting")
    throw new Error(
      `${UNCHANGED}. A person is asked: ${approval.itemId} in the inbox. After the approval, a script with the same call may run again, once; or call the tool apply_variant, which waits for its approval.`,
    );
  const reason = approval.reason === null ? "" : `, with the reason: ${approval.reason}`;
  throw new Error(
    `page.applyVariant: nothing was changed, because a person denied the call${reason}. Do not call it again with the same arguments.`,
  );
}

/**
 * `page.applyVariant(changes, { variant })` in scripts: does the same as `apply_variant` with `add`. Available only in
 * runs that have the tool `apply_variant`. If calls of that tool need approval, the first attempt fails: a script cannot wait
 * for a person.
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
        await passApproval(deps, call, { variant, add });
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
