"use client";

import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { decodeReferences } from "#lib/markdown/decode-references.ts";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";
import { CodeSample } from "./code-sample.tsx";

/**
 * Renders Markdown. Model text is untrusted: raw HTML and remote images are not rendered, and links lead only to web
 * pages, without a referrer. While the text streams, incomplete syntax is rendered as if it were complete. A text that
 * would take seconds to render is shown as plain text, because rendering would block the server for that time.
 */
export function Markdown({ text, isStreaming = false }: { text: string; isStreaming?: boolean }) {
  const complete = useCompletion(isStreaming);
  const blocks = useMemo(
    () => (isCostlyMarkdown(text) ? undefined : Lexer.lex(complete ? complete(text) : text)),
    [text, complete],
  );
  if (!blocks)
    return (
      <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    );
  return (
    <div className="prose-agent">
      {blocks.map((token, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added, and have no ids
        <Block key={index} token={token} isStreaming={isStreaming} />
      ))}
    </div>
  );
}

type Complete = (text: string) => string;

/** Returns the function that completes the syntax of a streaming text. Loaded with the first text that streams. */
function useCompletion(isStreaming: boolean): Complete | undefined {
  const [complete, setComplete] = useState<Complete>();
  useEffect(() => {
    if (!isStreaming) return;
    let isCurrent = true;
    import("remend").then(
      ({ default: remend }) => {
        if (isCurrent) setComplete(() => (text: string) => remend(text, { linkMode: "text-only" }));
      },
      // Without it, incomplete syntax is shown as it is.
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [isStreaming]);
  return isStreaming ? complete : undefined;
}

/**
 * Renders one block. While the text streams, a block with the same source is not rendered again, so that a long text
 * costs no more than its last block.
 */
const Block = memo(
  function Block({ token }: { token: Token; isStreaming: boolean }) {
    return renderBlock(token);
  },
  (one, other) =>
    one.token === other.token || (one.isStreaming && other.isStreaming && one.token.raw === other.token.raw),
);

const renderAll = (tokens: Token[] | undefined, render: (token: Token) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no ids
  tokens?.map((token, index) => <Fragment key={index}>{render(token)}</Fragment>);

/** Renders a block. Each has the direction of its own text. Raw HTML and link definitions show nothing. */
function renderBlock(token: Token): ReactNode {
  // The casts hold because `type` determines the token; the union of `marked` has a member with any type.
  switch (token.type) {
    case "heading": {
      const { depth, tokens } = token as Tokens.Heading;
      // The page itself has the heading of the first level.
      const Heading = depth === 1 ? "h2" : depth === 2 ? "h3" : "h4";
      return <Heading dir="auto">{renderAll(tokens, renderInline)}</Heading>;
    }
    case "paragraph":
      return <p dir="auto">{renderAll(token.tokens, renderInline)}</p>;
    case "list":
      return renderList(token as Tokens.List);
    case "blockquote":
      return <blockquote dir="auto">{renderAll(token.tokens, renderBlock)}</blockquote>;
    case "code": {
      const { text, lang } = token as Tokens.Code;
      return <CodeSample text={text} language={lang?.split(/\s/, 1)[0]} />;
    }
    case "table":
      return renderTable(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "space":
    case "def":
    case "html":
      return null;
    default:
      // The text of a list item without paragraphs, for example.
      return renderInline(token);
  }
}

function renderList({ ordered, start, items }: Tokens.List): ReactNode {
  const content = items.map((item, index) => (
    // List items have the direction of their list, so that the markers align.
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no ids
    <li key={index}>{renderAll(item.tokens, renderBlock)}</li>
  ));
  return ordered ? (
    <ol dir="auto" start={start === "" ? undefined : start}>
      {content}
    </ol>
  ) : (
    <ul dir="auto">{content}</ul>
  );
}

function renderTable({ header, rows }: Tokens.Table): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells have no ids
            <th key={index} dir="auto">
              {renderAll(cell.tokens, renderInline)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids
          <tr key={index}>
            {row.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have no ids
              <td key={column} dir="auto">
                {renderAll(cell.tokens, renderInline)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function renderInline(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{renderAll(token.tokens, renderInline)}</strong>;
    case "em":
      return <em>{renderAll(token.tokens, renderInline)}</em>;
    case "del":
      return <del>{renderAll(token.tokens, renderInline)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <SafeLink link={token as Tokens.Link} />;
    case "image": {
      const { text } = token as Tokens.Image;
      return <span className="text-faint">[picture{text ? `: ${decodeReferences(text)}` : ""}]</span>;
    }
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "☑ " : "☐ ";
    case "escape":
      return (token as Tokens.Escape).text;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? renderAll(tokens, renderInline) : decodeReferences(text);
    }
    default:
      return null;
  }
}

function SafeLink({ link }: { link: Tokens.Link }) {
  const { autolink, tokens } = link;
  const href = autolink ? link.href : decodeReferences(link.href);
  const content = autolink ? link.text : renderAll(tokens, renderInline);
  if (!/^https?:\/\//i.test(href)) return <span>{content}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={href}
      className="text-accent-strong underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {content}
    </a>
  );
}
