import { z } from "zod";
import type { AxeFindings } from "#lib/injected/accessibility/main.ts";
import { runAxe } from "#lib/tools/browser/accessibility/run-axe.ts";
import { ensureLiveBrowser } from "#lib/tools/browser/ensure-live-browser.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import { FRAME_ARROW, type PageFrame, withFrames } from "#lib/tools/browser/page-kit/page-frames.ts";
import { defineMcpTool, type McpTool, mcpValue } from "../mcp-tool.ts";
import { toToolCall } from "../session-tool.ts";
import type { UtilityServices } from "./utility-services.ts";

const FRAMES_MAX = 10;
const WORK_MS_MAX = 45_000;
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
export const checkAccessibility = ({ browser }: Pick<UtilityServices, "browser">): McpTool =>
  defineMcpTool({
    name: "check_accessibility",
    title: "Check accessibility",
    description:
      "Checks the page that the session's live browser shows, its frames included, against the WCAG with axe-core: " +
      "each rule that is broken, how badly, where, and what to do. It changes nothing on the page. A machine finds " +
      "about half of all barriers; undecided names the rules that a person has to look at.",
    input: z.strictObject({
      standard: z.enum(["wcag2a", "wcag2aa", "best-practice"]).default("wcag2aa"),
      selector: z.string().min(1).max(1_000).optional().describe("CSS selector: only this part of the page"),
      elementsPerRule: z.int().min(1).max(20).default(5),
    }),
    output,
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    changes: false,
    timeoutMs: 120_000,
    acquire: ({ sessionId, signal }) => browser.hold(sessionId, signal),
    async execute({ standard, selector, elementsPerRule }, { sessionId, callId, hasTool, signal, progress }) {
      const call = toToolCall({ sessionId, callId, hasTool, signal });
      progress(0, FRAMES_MAX + 1, "opening the page");
      const live = await ensureLiveBrowser(browser, call);
      return pageDeadline(signal, WORK_MS_MAX).race(() =>
        withFrames(live, async (frames, page) => {
          const [main, ...inner] = frames;
          // With a selector, only the main frame is checked.
          const visible = [main, ...(selector === undefined ? inner : [])].filter(
            (frame) => frame?.isVisible === true,
          );
          const checked = visible.slice(0, FRAMES_MAX);
          const findings: (AxeFindings & { frame: string })[] = [];
          for (const [index, frame] of checked.entries()) {
            if (!frame) continue;
            progress(index + 1, checked.length + 1, `checking ${describeFrame(frame)}`);
            const parts = selector === undefined ? [] : [selector];
            const options = { tags: STANDARDS[standard], parts, elementsPerRule };
            const found = await runAxe(frame, options).catch((error: unknown) => {
              // Ignores failures in inner frames, because an inner frame may have been removed during the check.
              if (frame === main) throw error;
            });
            if (found) findings.push({ ...found, frame: describeFrame(frame) });
          }
          return mcpValue({
            url: page.url(),
            violations: findings.flatMap(({ violations, frame }) =>
              violations.map((violation) => ({ ...violation, frame })),
            ),
            passed: findings[0]?.passed ?? 0,
            undecided: [...new Set(findings.flatMap(({ undecided }) => undecided))],
            framesChecked: findings.length,
            framesLeftOut: visible.length - findings.length,
          });
        }),
      );
    },
  });

const describeFrame = ({ path }: PageFrame): string => (path.length === 0 ? "main" : path.join(FRAME_ARROW));
