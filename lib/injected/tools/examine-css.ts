import type { PageKit } from "../page-kit/page-kit.ts";

/** What the browser makes of selectors and declarations. */
export type SeenCss = {
  /** By selector: whether the browser knows it, and whether it matches an element. */
  selectors: Record<string, { isValid: boolean; isMatched: boolean }>;
  /** Declarations that the browser ignores, as `name:value`, and whether it knows the property. */
  ignored: Record<string, { isKnown: boolean }>;
};

/** Examines selectors and declarations. A selector is given with a selector for the same elements in any state. */
export function examineCss(
  kit: PageKit,
  { selectors, declarations }: { selectors: [string, string | null][]; declarations: string[][] },
): SeenCss {
  const isMatched = (selector: string): boolean => {
    try {
      return kit.queryAll(selector).length > 0;
    } catch {
      // The selector without its states is invalid, so it cannot be judged. It counts as matching.
      return true;
    }
  };
  const isValid = (selector: string): boolean => {
    try {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`${selector}{}`);
      return sheet.cssRules.length > 0;
    } catch {
      return false;
    }
  };
  return {
    selectors: Object.fromEntries(
      selectors.map(([selector, relaxed]) => [
        selector,
        { isValid: isValid(selector), isMatched: relaxed === null || isMatched(relaxed) },
      ]),
    ),
    ignored: Object.fromEntries(
      declarations
        .filter(([name = "", value = ""]) => !CSS.supports(name, value))
        .map(([name = "", value = ""]) => [
          `${name}:${value}`,
          { isKnown: value === "" || CSS.supports(name, "initial") },
        ]),
    ),
  };
}
