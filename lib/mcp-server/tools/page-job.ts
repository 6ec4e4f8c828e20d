/** Work on what came from outside, which may take long or much memory: a thread of its own does it. */
export type PageJob =
  | { kind: "markdown"; html: string; url: string; scope: "article" | "page" }
  | { kind: "structured data"; html: string; url: string }
  | { kind: "difference"; before: Pixels; after: Pixels; size: Size; threshold: number };

/** RGBA, four bytes each. */
export type Pixels = Uint8Array<ArrayBuffer>;

/** Of a picture, in pixels. */
export type Size = { width: number; height: number };
export type Box = Size & { x: number; y: number };

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

/** How two pictures of one size differ; `picture` is RGBA, with what differs in red. */
export type DifferenceAnswer = { differingPixels: number; box: Box | null; picture: Pixels };

/** The answer of each kind of job. */
export type PageAnswers = {
  markdown: MarkdownAnswer;
  "structured data": StructuredDataAnswer;
  difference: DifferenceAnswer;
};

/** What the thread says: its answer, or why there is none. */
export type PageOutcome = { ok: true; value: unknown } | { ok: false; error: string };
