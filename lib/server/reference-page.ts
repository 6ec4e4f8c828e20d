import { createHash } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { namesTag } from "#lib/api/http/entity-tag.ts";
import { makeStaticPolicy } from "#lib/api/http/page-policy.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The path of the API reference. */
export const REFERENCE_PATH = "/docs";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** The page as bytes. The first part, which depends on the theme, is stored separately. */
type Rendered = {
  policy: string;
  link: string | undefined;
  heads: Record<Theme, Buffer>;
  rest: Buffer;
  /** The whole page, compressed, by theme. */
  packed: Map<Theme, Promise<Buffer>>;
  hash: string;
};

const PAGE_BYTES_MAX = 64 * 1024 * 1024;
const HTML_TAG = /<html lang="en"/;
const pack = promisify(gzip);

/**
 * Creates the handler of the API reference. Next renders the page once in the life of the process, at its first request;
 * rendering takes several hundred milliseconds of the main thread. All requests get the same bytes, so the page has no
 * nonce: its policy lists the hashes of its inline scripts instead. Source: decision 063.
 *
 * @param handle Next's own handler.
 */
export function createReferencePage(handle: Handle, host: string) {
  let rendering: Promise<Rendered> | undefined;

  /** Answers a GET or HEAD request. */
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    rendering ??= render(handle, host).catch((error: unknown) => {
      rendering = undefined;
      throw error;
    });
    const page = await rendering;
    const theme = readTheme(request.headers.cookie ?? "");
    const isPacked = /(^|,)\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(
      request.headers["accept-encoding"]?.toString() ?? "",
    );
    const etag = `"${page.hash}-${theme}${isPacked ? "-gzip" : ""}"`;
    response.setHeader("Content-Security-Policy", page.policy);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Cache-Control", "private, no-cache");
    response.setHeader("Vary", "Accept-Encoding, Cookie");
    response.setHeader("ETag", etag);
    if (page.link !== undefined) response.setHeader("Link", page.link);
    if (namesTag(request.headers["if-none-match"], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    if (isPacked) response.setHeader("Content-Encoding", "gzip");
    const parts = isPacked ? [await packOnce(page, theme)] : [page.heads[theme], page.rest];
    response.setHeader(
      "Content-Length",
      parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    );
    if (request.method !== "HEAD") for (const part of parts) response.write(part);
    response.end();
  };
}

/** Reads the theme that the page's own menu stores in a cookie. */
function readTheme(cookies: string): Theme {
  const value = /(?:^|;\s*)(?:__Host-)?theme=(\w+)/.exec(cookies)?.[1];
  return THEMES.find((theme) => theme === value) ?? "system";
}

function packOnce(page: Rendered, theme: Theme): Promise<Buffer> {
  const packed = page.packed.get(theme) ?? pack(Buffer.concat([page.heads[theme], page.rest]));
  page.packed.set(theme, packed);
  return packed;
}

async function render(handle: Handle, host: string): Promise<Rendered> {
  const { status, headers, body } = await requestPage(handle, host);
  const html = body.toString();
  const at = HTML_TAG.exec(html);
  if (status !== 200 || !at) throw new Error(`the API reference was not rendered: status ${status}`);
  const end = at.index + at[0].length;
  const headOf = (attribute: string) => Buffer.from(html.slice(0, end) + attribute);
  const scripts = html.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g);
  const { link } = headers;
  return {
    policy: makeStaticPolicy(
      [...scripts].map(([, script = ""]) => createHash("sha256").update(script).digest("base64")),
    ),
    link: typeof link === "string" ? link : undefined,
    heads: {
      system: headOf(""),
      light: headOf(' data-theme="light"'),
      dark: headOf(' data-theme="dark"'),
    },
    rest: Buffer.from(html.slice(end)),
    packed: new Map(),
    hash: createHash("sha256").update(html).digest("base64url").slice(0, 27),
  };
}

/** Requests the page from Next without a connection, and collects the response. */
async function requestPage(handle: Handle, host: string) {
  const parts: Buffer[] = [];
  const sink = new Duplex({
    // Large enough for the whole page, because only a server's connection reports that it can take more.
    writableHighWaterMark: PAGE_BYTES_MAX,
    read() {},
    write(part: Buffer, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.url = REFERENCE_PATH;
  request.headers = { host };
  // In a response for HTTP/1.0, the body ends with the connection and is not divided into chunks.
  request.httpVersion = "1.0";
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 0;
  const response = new ServerResponse(request);
  // The cast is safe, because a response only writes to its socket.
  response.assignSocket(sink as Socket);
  const finished = new Promise((resolve) => response.once("finish", resolve));
  await handle(request, response);
  await finished;
  const bytes = Buffer.concat(parts);
  return {
    status: response.statusCode,
    headers: response.getHeaders(),
    body: bytes.subarray(bytes.indexOf("\r\n\r\n") + 4),
  };
}
