import type { Tool } from "#lib/tools/tool.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { applyVariantTool } from "./apply-variant.ts";
import { checkVariantTool } from "./check-variant.ts";
import { refreshPreviews, setPreviews } from "./previews.ts";
import { publishVariantTool } from "./publish-variant.ts";

/** Creates the tools for variants, previews and publications. */
export const variantTools = (services: VariantToolServices): Tool[] => [
  applyVariantTool(services),
  checkVariantTool(services),
  setPreviews(services),
  refreshPreviews(services),
  publishVariantTool(services),
];
