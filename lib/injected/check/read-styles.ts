import type { PageWatch } from "./page-watch.ts";

/** The state of a style sheet of the variant in a document. */
type SeenSheet = {
  rules: number;
  /** Whether one style sheet of the document contains all rules of this sheet. */
  isPresent: boolean;
  /** Selectors of this sheet's rules that match no element. */
  unmatched: string[];
};

/**
 * Reads whether the variant's style sheets are in the document, and which of their rules match no element.
 */
export function readStyles(watch: PageWatch, texts: string[]): SeenSheet[] {
  const STATE_ATTRIBUTE =
    /\[\s*(?:hidden|open|disabled|checked|selected|readonly|inert|aria-[\w-]+|data-(?:[\w-]*(?:state|open|active|selected|expanded|theme|loading)))\b[^\]]*\]/gi;
  const STATE_CLASS =
    /\.(?:(?:is|has)-[\w-]+|active|open|opened|closed|show|shown|visible|hidden|selected|expanded|collapsed|loading|loaded|disabled|error|dark|js|no-js)(?![\w-])/gi;
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
    // Pseudo-elements, and states that the page or its visitors change, such as `:hover`, `[hidden]` and `.is-open`,
    // often match no element now, so they are removed from the selector.
    const atRest = selectorText
      .replace(/:not\((?:[^()]|\([^()]*\))*\)/gi, "")
      .replace(/::?(?!is|where|has|nth|first|last|only|root|host)[a-z-]+(\([^)]*\))?/gi, "")
      .replace(STATE_ATTRIBUTE, "")
      .replace(STATE_CLASS, "")
      .replace(/:(?:is|where)\([\s,]*\)/gi, "");
    // Where nothing is left between two combinators, any element may be.
    const selector = atRest
      .split(",")
      .map((part) => part.replace(/^\s*(?=[>+~]|$)/, "*").replace(/([>+~])\s*(?=[>+~]|$)/g, "$1 *"))
      .join(",");
    try {
      return kit.queryAll(selector).length > 0;
    } catch {
      // The rest of the selector is invalid, so the rule cannot be judged. It counts as matching.
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
