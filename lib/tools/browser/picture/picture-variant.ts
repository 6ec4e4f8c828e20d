import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { VariantView } from "../../services.ts";
import type { ToolCall } from "../../tool.ts";

/** The variant that a picture shows; absent for the page in its current state. */
export const pictureVariant = z
  .string()
  .min(1)
  .max(32)
  .nullable()
  .optional()
  .describe("key of a variant; null: the page without one; absent: the page as it is");

/** Runs work while the page shows a variant; null shows the page without one, undefined leaves the page unchanged. */
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

/** The end of a picture's title, which names the variant. */
export const nameVariant = (variant: string | null | undefined): string => {
  if (variant === undefined) return "";
  return variant === null ? ", without a variant" : `, variant ${variant}`;
};
