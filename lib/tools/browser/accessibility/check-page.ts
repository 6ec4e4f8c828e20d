import type { HostBrowsers } from "#lib/browser/browser-service.ts";
import type { AxeFindings } from "#lib/injected/accessibility/main.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import { pageDeadline } from "../page-deadline.ts";
import type { PageFrame } from "../page-kit/page-frame.ts";
import { FRAME_ARROW, withFrames } from "../page-kit/page-frames.ts";
import type { OnProgress, PageCall } from "../page-tools.ts";
import type { AccessibilityRequest, AccessibilityResult } from "./accessibility-result.ts";
import { runAxe } from "./run-axe.ts";

const FRAMES_MAX = 10;
const WORK_MS_MAX = 45_000;

/** Checks the page in the session's live browser, its frames included, with axe-core. */
export async function checkAccessibility(
  browser: HostBrowsers,
  { tags, selector, elementsPerRule }: AccessibilityRequest,
  call: PageCall,
  onProgress: OnProgress,
): Promise<AccessibilityResult> {
  onProgress(0, FRAMES_MAX + 1, "opening the page");
  const live = await ensureLiveBrowser(browser, call);
  return pageDeadline(call.signal, WORK_MS_MAX).race(() =>
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
        onProgress(index + 1, checked.length + 1, `checking ${describeFrame(frame)}`);
        const parts = selector === undefined ? [] : [selector];
        const found = await runAxe(frame, { tags, parts, elementsPerRule }).catch((error: unknown) => {
          // Ignores failures in inner frames, because an inner frame may have been removed during the check.
          if (frame === main) throw error;
        });
        if (found) findings.push({ ...found, frame: describeFrame(frame) });
      }
      return {
        url: page.url(),
        violations: findings.flatMap(({ violations, frame }) =>
          violations.map((violation) => ({ ...violation, frame })),
        ),
        passed: findings[0]?.passed ?? 0,
        undecided: [...new Set(findings.flatMap(({ undecided }) => undecided))],
        framesChecked: findings.length,
        framesLeftOut: visible.length - findings.length,
      };
    }),
  );
}

const describeFrame = ({ path }: PageFrame): string => (path.length === 0 ? "main" : path.join(FRAME_ARROW));
