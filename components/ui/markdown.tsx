"use client";

import type { ComponentProps, ReactNode } from "react";
import { type Components, Streamdown } from "streamdown";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";

type Inner = { children?: ReactNode };

/** Creates a component that renders `Tag` without the attributes from the Markdown. */
const plain = (
  Tag: "h1" | "h2" | "h3" | "h4" | "p" | "ul" | "ol" | "li" | "strong" | "blockquote" | "hr" | "th" | "td",
) =>
  function PlainElement({ children }: Inner) {
    if (Tag === "hr") return <hr />;
    // Each block has the direction of its own text. List items have the direction of their list, so that the markers
    // align.
    return <Tag dir={Tag === "strong" || Tag === "li" ? undefined : "auto"}>{children}</Tag>;
  };

/**
 * The components that render the elements of Markdown. Model text is untrusted. Therefore, raw HTML and remote images
 * are not rendered, and links lead only to web pages, without a referrer.
 */
const COMPONENTS = {
  h1: plain("h2"),
  h2: plain("h3"),
  h3: plain("h4"),
  h4: plain("h4"),
  p: plain("p"),
  ul: plain("ul"),
  ol: plain("ol"),
  li: plain("li"),
  strong: plain("strong"),
  blockquote: plain("blockquote"),
  hr: plain("hr"),
  th: plain("th"),
  td: plain("td"),
  table: ({ children }: Inner) => <table>{children}</table>,
  thead: ({ children }: Inner) => <thead>{children}</thead>,
  tbody: ({ children }: Inner) => <tbody>{children}</tbody>,
  tr: ({ children }: Inner) => <tr>{children}</tr>,
  pre: ({ children }: Inner) => <pre>{children}</pre>,
  code: ({ children }: Inner) => <code>{children}</code>,
  inlineCode: ({ children }: Inner) => <code>{children}</code>,
  a: SafeLink,
  img: ({ alt }: { alt?: string }) => <span className="text-faint">[picture{alt ? `: ${alt}` : ""}]</span>,
  // The cast is necessary, because the index signature of `Components` requires components that accept all properties.
  // The components above accept only the properties of their own element.
} as Components;

function SafeLink({ href, children }: ComponentProps<"a">) {
  if (!href || !/^https?:\/\//i.test(href)) return <span>{children}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={href}
      className="text-accent-strong underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {children}
    </a>
  );
}

/**
 * Renders Markdown. While the text streams, incomplete syntax is rendered as if it were complete. A text that would
 * take seconds to render is shown as plain text, because rendering would block the server for that time.
 */
export function Markdown({ text, isStreaming = false }: { text: string; isStreaming?: boolean }) {
  if (isCostlyMarkdown(text))
    return (
      <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    );
  return (
    <Streamdown
      className="prose-agent"
      components={COMPONENTS}
      rehypePlugins={[]}
      skipHtml
      controls={false}
      linkSafety={{ enabled: false }}
      mode={isStreaming ? "streaming" : "static"}
      parseIncompleteMarkdown={isStreaming}
    >
      {text}
    </Streamdown>
  );
}
