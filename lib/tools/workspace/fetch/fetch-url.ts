import { z } from "zod";
import { storableText } from "#db/storable.ts";
import { type GuardedResponse, isGuardedFetchError } from "#lib/net/fetch/guarded-fetch.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { defineTool, errorResult, type ToolResult } from "../../tool.ts";
import type { WorkspaceServices } from "../services.ts";
import { decodeBody, readMediaType } from "./decode-body.ts";
import { readableText } from "./readable-text.ts";

const BYTES_MAX = 2 * 1_048_576;
const TIMEOUT_MS = 15_000;
/** Sent with each request, because some sites reject requests without a user agent. */
const USER_AGENT = "Mozilla/5.0 (compatible; AgentSessionService)";

/**
 * `fetch_url`: fetches a page or document of the web without the browser. The guarded fetch refuses private addresses.
 */
export const fetchUrl = ({ fetch }: WorkspaceServices) =>
  defineTool({
    name: "fetch_url",
    description:
      "Fetches a public http(s) address without the browser: as text with links and form fields, or raw as source.",
    input: z.object({
      url: z.string().min(1).max(8_192),
      maxBytes: z.number().int().min(1).max(BYTES_MAX).default(BYTES_MAX),
      format: z.enum(["text", "raw"]).default("text"),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: TIMEOUT_MS + 10_000,
    async execute({ url, maxBytes, format }, call) {
      try {
        const answer = await fetch(url, {
          timeoutMs: TIMEOUT_MS,
          maxBytes,
          redirect: "follow",
          overflow: "truncate",
          signal: call.signal,
          purpose: { source: "fetch_url", sessionId: call.sessionId },
          headers: { "user-agent": USER_AGENT, accept: "text/html, application/json, text/*, */*;q=0.5" },
        });
        return describeAnswer(url, answer, format);
      } catch (error) {
        if (isGuardedFetchError(error)) return errorResult(`${url} could not be fetched: ${error.message}`);
        throw error;
      }
    },
  });

const URL_CHARS_MAX = 2_000;
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Converts a response to a tool result. A status of 400 or above is an error result that contains the text of the
 * response.
 */
function describeAnswer(url: string, answer: GuardedResponse, format: "text" | "raw"): ToolResult {
  const declaredType = readMediaType(answer.headers.get("content-type"));
  // The site decides the header, so only a well-formed type is shown.
  const mediaType = MEDIA_TYPE.test(declaredType) ? declaredType : "of an unknown type";
  const size = `${answer.body.byteLength} bytes${answer.truncated ? ", cut there" : ""}`;
  const head = `${url} answered ${answer.status}, ${mediaType}, ${size}.`;
  const text = decodeBody(answer.body, answer.headers.get("content-type"));
  const isRedirected = URL.parse(url)?.href !== answer.url;
  const body = describeBody(answer.url, isRedirected, mediaType, text, format);
  return { isError: answer.status >= 400, content: [{ type: "text", text: `${head}\n${body}` }] };
}

function describeBody(
  url: string,
  isRedirected: boolean,
  mediaType: string,
  text: string | undefined,
  format: "text" | "raw",
) {
  if (text === undefined) return "It is not text, and is not shown.";
  if (text.trim() === "") return "It is empty.";
  const isPage = mediaType === "text/html" || mediaType === "application/xhtml+xml";
  const shown = storableText(isPage && format === "text" ? readableText(text, url) : text);
  return quoteAsData(
    "the page",
    isRedirected ? `Redirected to ${shorten(url, URL_CHARS_MAX)}\n\n${shown}` : shown,
  );
}
