/** A job that parses untrusted HTML. It may need much time or memory, so it runs in its own thread. */
export type PageJob =
  | { kind: "markdown"; html: string; url: string; scope: "article" | "page" }
  | { kind: "structured data"; html: string; url: string };

/** A page's main content as Markdown, with its metadata. */
export type MarkdownAnswer = {
  title: string | null;
  byline: string | null;
  publishedAt: string | null;
  language: string | null;
  /** Whether `markdown` is the main article; otherwise it is the whole page. */
  isArticle: boolean;
  markdown: string;
};

/** An item of a page's microdata. */
export type MicrodataItem = { type: string[]; id?: string; properties: Record<string, unknown[]> };

/** A page's machine-readable metadata. */
export type StructuredDataAnswer = {
  title: string | null;
  description: string | null;
  canonicalUrl: string | null;
  language: string | null;
  jsonLd: unknown[];
  /** The parser's error messages for JSON-LD scripts that are not valid JSON. */
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
