/** Work on what came from outside, which may take long or much memory: a thread of its own does it. */
export type PageJob =
  | { kind: "markdown"; html: string; url: string; scope: "article" | "page" }
  | { kind: "structured data"; html: string; url: string };

/** A page's own words, without what surrounds them. */
export type MarkdownAnswer = {
  title: string | null;
  byline: string | null;
  publishedAt: string | null;
  language: string | null;
  /** Whether the main article was found; otherwise it is the whole page. */
  isArticle: boolean;
  markdown: string;
};

/** An item of a page's microdata. */
export type MicrodataItem = { type: string[]; id?: string; properties: Record<string, unknown[]> };

/** What a page says of itself for programs. */
export type StructuredDataAnswer = {
  title: string | null;
  description: string | null;
  canonicalUrl: string | null;
  language: string | null;
  jsonLd: unknown[];
  /** What stood where JSON-LD should, and is no JSON. */
  jsonLdErrors: string[];
  microdata: MicrodataItem[];
  openGraph: Record<string, string[]>;
  twitter: Record<string, string[]>;
};

/** The answer of each kind of job. */
export type PageAnswers = {
  markdown: MarkdownAnswer;
  "structured data": StructuredDataAnswer;
};
