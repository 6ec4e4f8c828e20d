import { toQuery } from "../relax-selector.ts";
import type { PageWatch } from "./page-watch.ts";

/** The state of a style sheet of the variant in a document. */
type SeenSheet = {
  rules: number;
  /** Whether one style sheet of the document contains all rules of this sheet. */
  isPresent: boolean;
  /** Selectors of this sheet's rules that match no element in any state of the page. */
  unmatched: string[];
};

/**
 * Reads whether the variant's style sheets are in the document, and which of their rules match no element.
 */
export function readStyles(watch: PageWatch, texts: string[]): SeenSheet[] {
  const kit = watch.newKit();
  const { dom } = kit;
  const rulesOf = (sheet: CSSStyleSheet): string[] => {
    try {
      return [...sheet.cssRules].map(({ cssText }) => cssText);
    } catch {
      // A style sheet from another origin cannot be read. It cannot be the variant's own sheet.
      return [];
    }
  };
  const present = [...dom.adoptedStyleSheets(document), ...dom.styleSheets(document)].map(
    (sheet) => new Set(rulesOf(sheet)),
  );
  const listStyleRules = (rules: CSSRuleList): CSSStyleRule[] =>
    [...rules].flatMap((rule) => {
      if (rule instanceof CSSStyleRule) return [rule];
      if (rule instanceof CSSMediaRule && !matchMedia(rule.media.mediaText).matches) return [];
      return rule instanceof CSSGroupingRule ? listStyleRules(rule.cssRules) : [];
    });
  const isMatched = ({ selectorText }: CSSStyleRule): boolean => {
    const selector = toQuery(selectorText);
    if (selector === null) return true;
    try {
      return kit.queryAll(selector).length > 0;
    } catch {
      // Without its states, the selector is invalid, so the rule cannot be judged. It counts as matching.
      return true;
    }
  };
  return texts.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    const rules = rulesOf(sheet);
    return {
      rules: rules.length,
      isPresent: present.some((each) => rules.every((rule) => each.has(rule))),
      unmatched: listStyleRules(sheet.cssRules)
        .filter((rule) => !isMatched(rule))
        .map(({ selectorText }) => selectorText),
    };
  });
}
