import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { ToolCall } from "../../tool.ts";
import type { VariantView } from "../host-services.ts";

/**
 * The input field that says which variant a picture shows: the key of a variant, null for the page without a variant,
 * or undefined for the page in its current state.
 */
export const pictureVariant = z
  .string()
  .min(1)
  .max(32)
  .nullable()
  .optional()
  .describe("key; null: without a variant; absent: as it is");

/**
 * Shows a variant in the page while `work` runs. For null, shows the page without a variant. For undefined, leaves the
 * page unchanged.
 */
export async function withVariant<Result>(
  variants: VariantView,
  call: ToolCall,
  live: LiveBrowser,
  variant: string | null | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (variant === undefined) return work();
  const restore = await variants.show(call, live, variant);
  return work().finally(restore);
}

/**
 * Returns the end of a picture's title, which names the variant. Empty if the picture shows the page in its current
 * state.
 */
export const nameVariant = (variant: string | null | undefined): string => {
  if (variant === undefined) return "";
  return variant === null ? ", without a variant" : `, variant ${variant}`;
};
