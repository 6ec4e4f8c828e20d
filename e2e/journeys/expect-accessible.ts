import { expect, type Page } from "@playwright/test";
import axe from "axe-core";

const SCHEMES = ["light", "dark"] as const;

/** Waits until the page has applied the color scheme and its transitions have ended. Ignores endless animations. */
const finishTransitions = async (colorScheme: string) => {
  const scheme = matchMedia(`(prefers-color-scheme: ${colorScheme})`);
  // On a busy machine, the page may get the scheme late, because Playwright sets it from another process.
  if (!scheme.matches)
    await new Promise((changed) => scheme.addEventListener("change", changed, { once: true }));
  // Repeats the wait, because the end of a transition may start a transition of an element that inherits the color.
  for (;;) {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const animations = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
      .filter(({ playState }) => playState === "running");
    if (animations.length === 0) return;
    await Promise.allSettled(animations.map(({ finished }) => finished));
  }
};

/**
 * Checks a state of a page with axe. The light scheme is checked with all rules, the dark scheme only for contrast,
 * because the schemes differ only in colors.
 */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  const width = page.viewportSize()?.width;
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(finishTransitions, colorScheme);
    await page.evaluate(axe.source);
    const found = await page.evaluate(async (isDark) => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
        resultTypes: ["violations"],
        ...(isDark && { runOnly: ["color-contrast"] }),
      });
      return violations.map(({ id, impact, nodes }) => ({
        rule: `${id} (${impact})`,
        at: nodes.map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`),
      }));
    }, colorScheme === "dark");
    expect.soft(found, `${what}, ${colorScheme}, ${width} px`).toEqual([]);
  }
}
