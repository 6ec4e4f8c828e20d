import type { Tool } from "#lib/tools/tool.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { applyVariantTool } from "./apply-variant.ts";
import { checkVariantTool } from "./check-variant.ts";
import { refreshPreviews, setPreviews } from "./previews.ts";

/** The tools of variants and previews. */
export const variantTools = (services: VariantToolServices): Tool[] => [
  applyVariantTool(services),
  checkVariantTool(services),
  setPreviews(services),
  refreshPreviews(services),
];
