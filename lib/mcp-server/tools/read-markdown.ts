import { z } from "zod";
import { httpUrl } from "#lib/api/contract/schemas/fields.ts";
import { endOfCharacter, startOfCharacter } from "#lib/text/whole-characters.ts";
import { defineMcpTool, type McpTool, mcpError, mcpText } from "../mcp-tool.ts";
import { fetchPage } from "./fetch-page.ts";
import type { MarkdownAnswer } from "./page-job.ts";
import type { UtilityServices } from "./utility-services.ts";

const CHARACTERS_MAX = 100_000;

/** Creates the tool `read_markdown`, which returns a web page as clean Markdown. */
export const readMarkdown = ({ fetch, threads }: Pick<UtilityServices, "fetch" | "threads">): McpTool =>
  defineMcpTool({
    name: "read_markdown",
    title: "Read a page as Markdown",
    description:
      "Fetches a public web page without a browser and returns its main article as Markdown, with absolute addresses; " +
      "scope page takes everything. offset reads on.",
    input: z.strictObject({
      url: httpUrl,
      scope: z.enum(["article", "page"]).default("article"),
      offset: z.int().min(0).max(10_000_000).default(0).describe("characters to skip"),
      maxCharacters: z.int().min(1).max(CHARACTERS_MAX).default(30_000),
    }),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    changes: false,
    timeoutMs: 40_000,
    async execute({ url, scope, offset: from, maxCharacters }, call) {
      call.progress(0, 2, `fetching ${url}`);
      const page = await fetchPage(fetch, url, call.signal);
      if (!page.ok) return mcpError(page.error);
      call.progress(1, 2, "writing Markdown");
      const { html, url: address } = page;
      const answer = await threads({ kind: "markdown", html, url: address, scope }, call.signal);
      const { markdown } = answer;
      const offset = startOfCharacter(markdown, from);
      const end = endOfCharacter(markdown, Math.min(from + maxCharacters, markdown.length));
      const rest = end < markdown.length ? `; continue with offset ${end}` : "";
      const range = `[characters ${Math.min(offset, end)} to ${end} of ${markdown.length}${rest}]`;
      const head = [
        ...describePage(page.url, answer),
        ...(page.isTruncated ? ["The page was cut at 4 MiB."] : []),
      ];
      const shown = markdown.slice(offset, end).toWellFormed();
      return mcpText(`${head.join("\n")}\n\n${shown}\n\n${range}`);
    },
  });

const describePage = (url: string, { title, byline, publishedAt, isArticle }: MarkdownAnswer): string[] => [
  ...(title ? [`Title: ${title}`] : []),
  ...(byline ? [`By: ${byline}`] : []),
  ...(publishedAt ? [`Published: ${publishedAt}`] : []),
  `Address: ${url}`,
  ...(isArticle ? [] : ["This is the whole page: no main article was looked for, or none found."]),
];
