import type { PageWatch } from "./page-watch.ts";

/** The state of a style sheet of the variant in a document. */
type SeenSheet = {
  rules: number;
  /** Whether a sheet of the document has all its rules. */
  isPresent: boolean;
  /** Selectors of rules that match no element. */
  unmatched: string[];
};

/** Examines style sheets. Runs inside the page, sent as source: it uses nothing from outside its own body. */
export function readStyles(watch: PageWatch, texts: string[]): SeenSheet[] {
  const kit = watch.newKit();
  const rulesOf = (sheet: CSSStyleSheet): string[] => {
    try {
      return [...sheet.cssRules].map(({ cssText }) => cssText);
    } catch {
      // The sheet of another origin cannot be read, and is not the variant's.
      return [];
    }
  };
  const present = [...document.adoptedStyleSheets, ...document.styleSheets].map(
    (sheet) => new Set(rulesOf(sheet)),
  );
  const listStyleRules = (rules: CSSRuleList): CSSStyleRule[] =>
    [...rules].flatMap((rule) => {
      if (rule instanceof CSSStyleRule) return [rule];
      if (rule instanceof CSSMediaRule && !matchMedia(rule.media.mediaText).matches) return [];
      return rule instanceof CSSGroupingRule ? listStyleRules(rule.cssRules) : [];
    });
  const isMatched = ({ selectorText }: CSSStyleRule): boolean => {
    // States such as :hover and parts such as ::before match no element of a page at rest, so they are ignored.
    const atRest = selectorText.replace(
      /::?(?!not|is|where|has|nth|first|last|only|root|host)[a-z-]+(\([^)]*\))?/gi,
      "",
    );
    const selector = atRest
      .split(",")
      .map((part) => (/^\s*$|[\s>+~]$/.test(part) ? `${part}*` : part))
      .join(",");
    try {
      return kit.queryAll(selector).length > 0;
    } catch {
      // The remainder is not a valid selector, so the rule cannot be judged and counts as matched.
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
