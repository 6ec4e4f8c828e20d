import { z } from "zod";
import { defineMcpTool, type McpTool, mcpValue } from "../mcp-tool.ts";
import { toToolCall } from "../session-tool.ts";
import type { UtilityServices } from "./utility-services.ts";

const STANDARDS = {
  wcag2a: ["wcag2a", "wcag21a"],
  wcag2aa: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  "best-practice": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};

const whole = z.int().min(0);
const output = z.object({
  url: z.string(),
  violations: z.array(
    z.object({
      rule: z.string(),
      impact: z.enum(["minor", "moderate", "serious", "critical"]).nullable(),
      help: z.string(),
      helpUrl: z.string(),
      tags: z.array(z.string()),
      frame: z.string().describe("main, or the selectors of the frames that lead to it"),
      count: whole.describe("elements that break the rule"),
      elements: z.array(z.object({ selector: z.string(), html: z.string(), problem: z.string() })),
    }),
  ),
  passed: whole.describe("rules that hold everywhere"),
  undecided: z.array(z.string()).describe("rules that a person has to look at"),
  framesChecked: whole,
  framesLeftOut: whole,
});

/** Creates the tool `check_accessibility`, which runs axe-core on the page in the session's live browser. */
export const checkAccessibility = ({ pages }: Pick<UtilityServices, "pages">): McpTool =>
  defineMcpTool({
    name: "check_accessibility",
    title: "Check accessibility",
    description:
      "Checks the live page and its frames against the WCAG with axe-core: each broken rule, how badly, where, and what " +
      "to do. A machine finds about half of all barriers; undecided names the rules that a person has to look at.",
    input: z.strictObject({
      standard: z.enum(["wcag2a", "wcag2aa", "best-practice"]).default("wcag2aa"),
      selector: z.string().min(1).max(1_000).optional().describe("only this part of the page"),
      elementsPerRule: z.int().min(1).max(20).default(5),
    }),
    output,
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    changes: false,
    timeoutMs: 120_000,
    acquire: (call) => pages.hold(call),
    async execute({ standard, selector, elementsPerRule }, call) {
      const request = { tags: STANDARDS[standard], selector, elementsPerRule };
      return mcpValue(await pages.checkAccessibility(request, toToolCall(call), call.progress));
    },
  });
