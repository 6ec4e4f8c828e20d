import { z } from "zod";
import { hasBrowserForCall } from "#lib/browser/store/browser-store.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type ToolCall, type ToolResult, textResult } from "#lib/tools/tool.ts";
import { type ApplyResult, applyVariant } from "../apply-variant.ts";
import { DEFAULT_VARIANT, revisionInputSchema, variantKeySchema } from "../document.ts";
import { findRevision, type Revision } from "../variant-store.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { APPLY_VARIANT_SCHEMA } from "./change-schema.ts";

const input = revisionInputSchema.extend({
  variant: variantKeySchema.default(DEFAULT_VARIANT),
  baseRevision: z.int().min(0),
});

/**
 * `apply_variant`: stores a revision and applies it to the live page.
 * Source: specification, Capabilities; `architecture.md`, Variants.
 */
export const applyVariantTool = (services: VariantToolServices) => ({
  ...defineTool({
    name: "apply_variant",
    description:
      "Stores a revision of the variant and applies it to the live page. Every selector must match, or nothing is stored; elements inside frames cannot be changed. Answers with what each change found and a picture. Scripts of browser_execute have it as `await page.applyVariant([{ op, selector, … }])`, which adds changes.",
    input,
    // A repeated call finds the revision that its first attempt stored.
    idempotent: true,
    readOnly: false,
    changes: true,
    timeoutMs: 120_000,
    async execute({ variant, baseRevision, ...change }, call) {
      const isReading = Object.values(change).every((field) => field === undefined);
      const stored = isReading && (await findRevision(services.db, call.rootSessionId, variant));
      if (stored) return describeStored(stored);
      const page = (await canShow(services, call)) ? call : undefined;
      const applied = await applyVariant(services, { ...about(call), variant, baseRevision, change, page });
      if (!applied.ok) return errorResult(`apply_variant: ${applied.problem}`);
      return page ? withPicture(services, applied, call) : textResult(describeApplied(applied));
    },
  }),
  jsonSchema: APPLY_VARIANT_SCHEMA,
  async acquire(call: ToolCall) {
    return (await canShow(services, call)) ? services.hold(call) : () => {};
  },
});

const canShow = async ({ hasBrowsers, db }: VariantToolServices, call: ToolCall): Promise<boolean> =>
  hasBrowsers && (await hasBrowserForCall(db, call));

/** The fields of a tool call that `applyVariant` needs. */
const about = ({ rootSessionId, requestId, runId, callId }: ToolCall) => ({
  sessionId: rootSessionId,
  requestId,
  runId,
  callId,
});

async function withPicture(
  services: VariantToolServices,
  applied: ApplyResult & { ok: true },
  call: ToolCall,
): Promise<ToolResult> {
  const text = describeApplied(applied);
  const { key, revision } = applied.summary;
  try {
    const saved = await services.pages.picture({ title: `Variant ${key}, revision ${revision}` }, call);
    return { isError: false, content: [{ type: "text", text }, ...saved.content] };
  } catch (error) {
    // The revision is stored already, so the call succeeds even without a picture.
    return textResult(`${text}\nNo picture: ${describeFailure(error)}`);
  }
}

/**
 * Describes the newest revision, for a call that changes nothing. The model makes such a call in a later turn to read
 * the content of the variant again.
 */
const describeStored = ({ variant, number, document }: Revision): string =>
  `Nothing was changed. Revision ${number} of variant ${variant} has these pages, as set takes them.\n${quoteAsData("the variant", JSON.stringify(document.pages))}`;

/** Describes a stored revision for the model. */
function describeApplied(applied: ApplyResult & { ok: true }): string {
  const { summary, isRepeated, grounding, renamed, returned } = applied;
  const { key, revision } = summary;
  const remarks = [...renamed, ...returned].map((note) => `- ${note}`);
  if (returned.length > 0)
    remarks.push("Take out what a person has rejected, unless a person has asked for it since.");
  const stored = [`Stored revision ${revision} of variant ${key}.`, ...remarks].join("\n");
  const next = `Use baseRevision ${revision} for the next change. It has no check yet: run check_variant before you finish.`;
  if (isRepeated) return `${stored} The call was interrupted after that. ${next}`;
  if (!grounding)
    return `${stored} This session has no browser, so its selectors were not tried on a page, and it was not checked. Use baseRevision ${revision} for the next change.`;
  const { lines, elsewhere, cssProblems } = grounding;
  const found = lines.length === 0 ? [] : [quoteAsData("the page", lines.join("\n"))];
  const others =
    elsewhere.length === 0
      ? []
      : [
          `Not tried, because the live page is another one: ${elsewhere.join(", ")}. check_variant opens their pages.`,
        ];
  const css =
    cssProblems.length === 0
      ? []
      : ["The browser ignores parts of the css:", quoteAsData("the variant", cssProblems.join("\n"))];
  return [`${stored} The live page shows it.`, ...found, ...css, ...others, next].join("\n");
}
