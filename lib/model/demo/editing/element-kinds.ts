/** A query for elements. */
export type ElementSearch = {
  selector?: string;
  text?: string;
  /** Of the elements that contain the text, only the smallest one matches. */
  isSmallest?: true;
  /** The words that the selector matches in ids, classes and labels. */
  names?: readonly string[];
};

/** A kind of element, such as a button. Tasks name it by a noun. */
type ElementKind = {
  /** Matches the noun in the singular. */
  noun: RegExp;
  /** The queries that find such elements, best first. */
  searches: (ElementSearch & { selector: string })[];
  /**
   * Selector that finds all such elements, for example for a plural noun. Default: the selector of the first search or,
   * for a noun with a quotation, of any search.
   */
  all?: string;
  /** The roles of such elements. A query may also match children of such elements, which have other roles. */
  roles?: RegExp;
  /** Whether a color in a task applies to the background of such elements. */
  isArea?: true;
};

const BUTTONS = 'button, [role="button"], a[class*="button" i], a[class*="btn" i]';
const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role="heading"]';

const css = (...selectors: string[]) => selectors.map((selector) => ({ selector }));

/** Creates a search for elements whose id, class, label or test id contains one of the words. */
export function searchNames(...names: string[]): ElementSearch & { selector: string } {
  const attributes = ["id", "class", "aria-label", "data-testid"];
  const each = names.flatMap((word) => attributes.map((name) => `[${name}*=${JSON.stringify(word)} i]`));
  return { selector: `:is(${each.join(", ")}):not(html, body, main)`, names };
}

const BANNER = searchNames("banner");
const NOTICE = searchNames("notice", "announce", "promo", "notification", "alert");

const ELEMENT_KINDS: readonly ElementKind[] = [
  {
    noun: /^(?:(?:page|main|hero|big|top) )?(?:headline|heading|title|h1)$/,
    searches: css("h1", 'h2, h3, [role="heading"]'),
    all: HEADINGS,
    roles: /^heading$/,
  },
  {
    noun: /^(?:subheading|subheadline|subtitle|tagline|strapline|intro|lead)$/,
    searches: [searchNames("subtitle", "tagline", "lead", "intro"), ...css("h1 + p, h1 + h2", "main p")],
  },
  {
    noun: /^(?:button|cta|call to action)$/,
    searches: css(BUTTONS),
    roles: /^(?:button|link|a)$/,
    isArea: true,
  },
  { noun: /^link$/, searches: css("main a[href]", "a[href]"), all: "a[href]", roles: /^link$/ },
  { noun: /^price$/, searches: css('[class*="price" i], [itemprop="price"], [data-price]:not(form, input)') },
  { noun: /^(?:announcement |top )?banner$/, searches: [BANNER, NOTICE], isArea: true },
  {
    noun: /^(?:notice|announcement|notification|alert)(?: bar)?$/,
    searches: [NOTICE, BANNER],
    isArea: true,
  },
  {
    noun: /^(?:image|picture|photo|illustration)$/,
    searches: css("main img, main picture, main svg", "img"),
  },
  { noun: /^paragraph$/, searches: css("main p", "p"), all: "p" },
  { noun: /^logo$/, searches: [searchNames("logo", "brand")] },
  { noun: /^(?:page |site )?header$/, searches: css("header", '[role="banner"]'), isArea: true },
  { noun: /^(?:page |site )?footer$/, searches: css("footer", '[role="contentinfo"]'), isArea: true },
  { noun: /^(?:navigation|nav|menu)(?: bar)?$/, searches: css("nav", '[role="navigation"]'), isArea: true },
  { noun: /^sidebar$/, searches: [...css("aside"), searchNames("sidebar")], isArea: true },
  { noun: /^form$/, searches: css("main form", "form"), isArea: true },
];

/** Finds the kind of element for a lower-case noun, and whether the noun is a plural; undefined for other words. */
export function findKind(noun: string): (ElementKind & { isPlural: boolean }) | undefined {
  const singular = noun.replace(/^calls /, "call ").replace(/s$/, "");
  const kind = ELEMENT_KINDS.find((each) => each.noun.test(noun) || each.noun.test(singular));
  return kind && { ...kind, isPlural: !kind.noun.test(noun) };
}
