import { z } from "zod";
import { httpUrl } from "#lib/api/contract/schemas/fields.ts";
import { defineMcpTool, type McpTool, mcpError, mcpValue } from "../mcp-tool.ts";
import { fetchPage } from "./fetch-page.ts";
import type { UtilityServices } from "./utility-services.ts";

const VALUE_CHARACTERS_MAX = 100_000;
const texts = z.record(z.string(), z.array(z.string()));

const output = z.object({
  url: z.string().describe("the address that answered, after redirects"),
  title: z.string().nullable(),
  description: z.string().nullable(),
  canonicalUrl: z.string().nullable(),
  language: z.string().nullable(),
  jsonLd: z.array(z.json()),
  jsonLdErrors: z.array(z.string()).describe("what stood where JSON-LD should, and is no JSON"),
  microdata: z.array(
    z.object({
      type: z.array(z.string()),
      id: z.string().optional(),
      properties: z.record(z.string(), z.array(z.json())),
    }),
  ),
  openGraph: texts,
  twitter: texts,
  leftOut: z.array(z.string()).describe("parts that would have made the answer too long"),
});

/** Creates the tool `read_structured_data`, which returns the machine-readable metadata of a web page. */
export const readStructuredData = ({ fetch, threads }: Pick<UtilityServices, "fetch" | "threads">): McpTool =>
  defineMcpTool({
    name: "read_structured_data",
    title: "Read a page's structured data",
    description:
      "Fetches a public web page without a browser and returns what it says of itself for programs: JSON-LD, microdata, " +
      "Open Graph, title, description, canonical address and language.",
    input: z.strictObject({
      url: httpUrl,
    }),
    output,
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    changes: false,
    timeoutMs: 40_000,
    async execute({ url }, call) {
      call.progress(0, 2, `fetching ${url}`);
      const page = await fetchPage(fetch, url, call.signal);
      if (!page.ok) return mcpError(page.error);
      call.progress(1, 2, "looking for structured data");
      const { html, url: address } = page;
      const found = await threads({ kind: "structured data", html, url: address }, call.signal);
      return mcpValue(shortenValue({ url: address, ...found }));
    },
  });

/** Empties the longest fields until the value is short enough. The field `leftOut` lists the emptied fields. */
function shortenValue(value: Record<string, unknown>): Record<string, unknown> {
  const shortened: Record<string, unknown> = { ...value };
  const leftOut: string[] = [];
  const lengthOf = (part: unknown) => JSON.stringify(part).length;
  while (lengthOf(shortened) > VALUE_CHARACTERS_MAX) {
    const [longest] = Object.entries(shortened).sort(([, a], [, b]) => lengthOf(b) - lengthOf(a))[0] ?? [];
    if (longest === undefined || leftOut.includes(longest)) break;
    const part = shortened[longest];
    shortened[longest] = Array.isArray(part) ? [] : typeof part === "object" ? {} : null;
    leftOut.push(longest);
  }
  return { ...shortened, leftOut };
}
