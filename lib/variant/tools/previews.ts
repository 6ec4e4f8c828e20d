import { z } from "zod";
import { storable } from "#db/storable.ts";
import { httpUrlUpTo } from "#lib/text/http-url.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool, type ToolCall, type ToolResult } from "#lib/tools/tool.ts";
import { variantKeySchema } from "../document.ts";
import { listPreviewRows, type PreviewRow } from "../previews/preview-store.ts";
import { readViewport, takePreviews, type WantedPreview } from "../previews/take-previews.ts";
import { explainUnknown } from "../show-for-picture.ts";
import { listVariantKeys } from "../variant-store.ts";
import type { VariantToolServices } from "../variants-deps.ts";

const PREVIEWS_MAX = 12;
/** Enough time to start a browser and to take twelve pictures, each within its own limit. */
const TIMEOUT_MS = 360_000;

const side = z.int().min(240).max(3_840);
const preview = z.strictObject({
  title: z.string().trim().min(1).max(200),
  url: httpUrlUpTo(8_192),
  viewport: z
    .union([z.enum(["desktop", "tablet", "phone"]), z.strictObject({ width: side, height: side })])
    .default("desktop"),
  variant: variantKeySchema.nullable().describe("key of the variant; null: the page without one"),
  scrollTo: z.string().min(1).max(1_000).optional().describe("selector of the element to show"),
  caption: z.string().max(500).optional(),
});

const common = {
  idempotent: true,
  readOnly: false,
  // Both replace the pictures that people see.
  changes: true,
  timeoutMs: TIMEOUT_MS,
} as const;

/**
 * `set_previews`: sets the pictures that people see next to the task.
 * Source: specification, Capabilities; `architecture.md`, Variants.
 */
export const setPreviews = (services: VariantToolServices): Tool => ({
  ...defineTool({
    ...common,
    name: "set_previews",
    description:
      "Sets the previews that people see, all of them at once, and takes their pictures on fresh loads of the pages. Show each change, and next to it the page without the variant (variant: null).",
    input: z.strictObject({ previews: z.array(preview).max(PREVIEWS_MAX) }),
    async execute({ previews }, call) {
      const keys = await listVariantKeys(services.db, call.rootSessionId);
      const index = previews.findIndex(({ variant }) => variant !== null && !keys.includes(variant));
      const unknown = previews[index]?.variant;
      if (unknown)
        return errorResult(`set_previews: previews[${index}].variant: ${explainUnknown(unknown, keys)}`);
      const wanted = storable(previews).map(({ viewport, scrollTo, caption, ...fields }): WantedPreview => {
        const shown = { ...fields, ...readViewport(viewport) };
        return { ...shown, scrollTo: scrollTo ?? null, caption: caption ?? null };
      });
      return take(services, call, wanted);
    },
  }),
  acquire: services.hold,
});

/** `refresh_previews`: takes the pictures of the existing previews again. */
export const refreshPreviews = (services: VariantToolServices): Tool => ({
  ...defineTool({
    ...common,
    name: "refresh_previews",
    description: "Takes the pictures of the previews again, with the newest revisions.",
    input: z.strictObject({}),
    async execute(_input, call) {
      const rows = await listPreviewRows(services.db, call.rootSessionId);
      if (rows.length === 0)
        return errorResult("refresh_previews: there are no previews; set them with set_previews.");
      return take(services, call, rows);
    },
  }),
  acquire: services.hold,
});

async function take(
  services: VariantToolServices,
  call: ToolCall,
  wanted: readonly WantedPreview[],
): Promise<ToolResult> {
  const { rows, notes } = await takePreviews(services, call, wanted);
  const lines = [...rows.map(describePreview), ...notes.map((note) => `- ${note}`)];
  const described = rows.length === 0 ? [] : [quoteAsData("the pages", lines.join("\n"))];
  const text = [describeCount(rows), ...described].join("\n");
  const isFailed = rows.length > 0 && rows.every(({ error }) => error !== null);
  return { isError: isFailed, content: [{ type: "text", text }] };
}

const describeCount = (rows: PreviewRow[]): string => {
  const taken = rows.filter(({ error }) => error === null).length;
  if (rows.length === 0) return "There are no previews any more.";
  return `${taken} of ${rows.length} previews ${taken === 1 ? "has its" : "have their"} picture.`;
};

function describePreview({
  title,
  url,
  width,
  height,
  variant,
  revision,
  evidenceId,
  error,
}: PreviewRow): string {
  const shown = variant === null ? "without a variant" : `variant ${variant}, revision ${revision ?? "none"}`;
  const outcome = error === null ? `evidence ${evidenceId}` : `no picture: ${error}`;
  return `- ${JSON.stringify(title)} ${url} ${width}×${height}, ${shown}: ${outcome}`;
}
