import { z } from "zod";
import { defineTool, type Tool } from "#lib/tools/tool.ts";

const SOURCES_MAX = 50;

/**
 * `cite`: records what a value of the result was computed from. The recorded call is all that the receipts need.
 * Source: `wire.md`, Receipts.
 */
export const cite: Tool = defineTool({
  name: "cite",
  description:
    "Says what you computed a value of the result from, such as a sum. Give the value as the result will have it, and each text or number it comes from as it is in what you have seen.",
  input: z.strictObject({
    value: z.union([z.string().max(2_000), z.number()]),
    from: z.array(z.string().min(1).max(500)).min(1).max(SOURCES_MAX),
    how: z.string().max(500).optional().describe("such as sum"),
  }),
  idempotent: true,
  readOnly: true,
  changes: false,
  execute: async () => "Noted.",
});
