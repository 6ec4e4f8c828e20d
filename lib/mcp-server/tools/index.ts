import type { McpTool } from "../mcp-tool.ts";
import { checkAccessibility } from "./check-accessibility.ts";
import { comparePictures } from "./compare-pictures.ts";
import { readMarkdown } from "./read-markdown.ts";
import { readStructuredData } from "./read-structured-data.ts";
import type { UtilityServices } from "./utility-services.ts";

/** A utility of the built-in server, and the capability that it needs. */
export type Utility = { tool: McpTool; needs: "browser" | undefined };

/** Creates the tools that exist only on the built-in server. Source: `security.md`, Built-in MCP server. */
export const createUtilities = (services: UtilityServices): Utility[] => [
  { tool: readMarkdown(services), needs: undefined },
  { tool: readStructuredData(services), needs: undefined },
  { tool: checkAccessibility(services), needs: "browser" },
  { tool: comparePictures(services), needs: undefined },
];
