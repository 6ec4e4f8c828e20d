import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { VariantView } from "../../services.ts";
import type { ToolCall } from "../../tool.ts";

/** Which variant a picture shows; absent for the page as it is. */
export const pictureVariant = z
  .string()
  .min(1)
  .max(32)
  .nullable()
  .optional()
  .describe("key of a variant; null: the page without one; absent: the page as it is");

/** Does work on the page while it shows a variant, or with null none; undefined leaves the page as it is. */
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

/** The end of a picture's title. */
export const nameVariant = (variant: string | null | undefined): string => {
  if (variant === undefined) return "";
  return variant === null ? ", without a variant" : `, variant ${variant}`;
};
