import { expect, type Page } from "@playwright/test";
import axe from "axe-core";

const SCHEMES = ["light", "dark"] as const;

/** Waits until the page has the new colour scheme and has drawn it. Skips animations that never end. */
const finishTransitions = async (colorScheme: string) => {
  const scheme = matchMedia(`(prefers-color-scheme: ${colorScheme})`);
  // Playwright sets the scheme in another process: on a busy machine the page gets it later.
  if (!scheme.matches)
    await new Promise((changed) => scheme.addEventListener("change", changed, { once: true }));
  // A colour that is inherited may begin its own transition when that of its parent has ended.
  for (;;) {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const passing = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
      .filter(({ playState }) => playState === "running");
    if (passing.length === 0) return;
    await Promise.allSettled(passing.map(({ finished }) => finished));
  }
};

/**
 * Checks a state of a page with axe: with all rules in light, and with the rule of contrast in dark, because the two
 * schemes differ in colours only.
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
