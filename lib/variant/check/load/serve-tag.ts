import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession } from "playwright";
import type { FreshContext } from "#lib/browser/page/open-fresh-context.ts";
import { scriptUrl } from "#lib/publication/script-address.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { findBlockingPolicies, splitPolicies } from "../content-policy.ts";
import type { CheckContext, ScriptTag } from "./check-context.ts";
import { injectScript } from "./inject-script.ts";
import { insertTag } from "./insert-tag.ts";

/** How long a visitor's browser takes to load the script, in milliseconds, on a connection of medium speed. */
const LATENCY_MS = 150;
/**
 * How long a document may take from its headers to its end, in milliseconds. It is held back for this time. A document
 * that takes longer is streamed, and holding it would change what people see first and when its scripts run.
 */
const HOLD_MS_MAX = 250;
const DOCUMENT_BYTES_MAX = 10 * 1_048_576;
/** How many pages and documents are remembered. A page in a loop may load more. */
const REMEMBERED_MAX = 100;
const CHUNK_BYTES = 1_048_576;
/** Headers that no longer hold for a document with the tag. */
const BODY_HEADERS = new Set(["content-length", "content-encoding", "transfer-encoding", "content-md5"]);
/** The headers of published scripts. Source: `wire.md`, Publications. */
const SCRIPT_HEADERS = {
  "Content-Type": "text/javascript; charset=utf-8",
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cache-Control": "public, max-age=60",
};

/** Builds an address of the form that the script gets when it is published. */
export const tagUrl = (scriptOrigin: string): string => scriptUrl(scriptOrigin, `pub_${"a".repeat(24)}`);

/** How the main documents of one load get the variant's script. */
type TagDelivery = {
  /** Whether the document of the latest navigation was dropped because it is streamed. It must be requested again. */
  isDropped: () => boolean;
  /**
   * Why the script did not run in the way in which a visitor's browser runs it, as a part of a sentence. Undefined if it
   * did.
   */
  gap: () => string | undefined;
};

type Header = { name: string; value: string };
type Paused = {
  requestId: string;
  request: { url: string };
  frameId: string;
  networkId?: string;
  responseStatusCode?: number;
  responseErrorReason?: string;
  responseHeaders?: Header[];
};

type Delivery = {
  cdp: CDPSession;
  check: CheckContext;
  /** Why the latest documents have no tag. */
  reason?: string;
  /** Loader ids of the documents with the tag. */
  tagged: Set<string>;
  /** How long the latest document was held back, in milliseconds. */
  heldMs: number;
  isRequested: boolean;
  hasDocument: boolean;
  isDropped: boolean;
};

/**
 * Serves the documents of a page with the published script's tag in their head, and the script at its address, 150 ms
 * after the document reached the browser, as on a first visit. A document that cannot have the tag is served unchanged,
 * and the script is injected at the time at which the tag would run it.
 */
export async function serveTag(
  { page, cdp, guard }: FreshContext,
  check: CheckContext,
): Promise<TagDelivery> {
  // A session of its own, because each session has one list of requests to pause.
  const delivery: Delivery = {
    cdp: await page.context().newCDPSession(page),
    check,
    tagged: new Set(),
    heldMs: 0,
    isRequested: false,
    hasDocument: false,
    isDropped: false,
  };
  const { frameTree } = await cdp.send("Page.getFrameTree");
  let mainFrameId = frameTree.frame.id;
  const onPaused = async (event: Paused) => {
    // Fails if the page has navigated or closed in the meantime.
    const work = event.request.url === check.tagUrl ? sendScript : sendDocument;
    await work(delivery, event, event.frameId === mainFrameId).catch(() => {});
  };
  delivery.cdp.on("Fetch.requestPaused", guard(onPaused));
  cdp.on(
    "Page.frameNavigated",
    guard(({ frame }) => {
      if (frame.parentId !== undefined) return;
      mainFrameId = frame.id;
      if (!delivery.tagged.has(frame.loaderId))
        delivery.reason ??=
          "the document did not come from the network (a service worker may have served it)";
    }),
  );
  await delivery.cdp.send("Fetch.enable", {
    patterns: [
      { urlPattern: check.tagUrl, requestStage: "Request" },
      { urlPattern: "*", resourceType: "Document", requestStage: "Response" },
    ],
  });
  await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: injectScript(check, LATENCY_MS) });
  return {
    isDropped: () => delivery.isDropped,
    gap: () =>
      delivery.reason ??
      (delivery.hasDocument && !delivery.isRequested
        ? "the browser did not load the tag's script"
        : undefined),
  };
}

async function sendScript(delivery: Delivery, { requestId }: Paused): Promise<void> {
  const { cdp, check } = delivery;
  // Later documents of the visit have the script in the browser's cache.
  if (!delivery.isRequested) await sleep(Math.max(0, LATENCY_MS - delivery.heldMs));
  delivery.isRequested = true;
  await cdp.send("Fetch.fulfillRequest", {
    requestId,
    responseCode: 200,
    responseHeaders: Object.entries(SCRIPT_HEADERS).map(([name, value]) => ({ name, value })),
    body: Buffer.from(check.script).toString("base64"),
  });
}

async function sendDocument(delivery: Delivery, event: Paused, isMain: boolean): Promise<void> {
  const { cdp, check } = delivery;
  const { requestId, request, networkId, responseStatusCode: status = 0, responseHeaders = [] } = event;
  const leave = async () => void (await cdp.send("Fetch.continueRequest", { requestId }));
  if (!isMain || event.responseErrorReason !== undefined || status < 200 || status > 299) return leave();
  const reason =
    check.untagged.get(withoutQuery(request.url)) ??
    explainUntaggable(responseHeaders) ??
    explainBlocked(readPolicies(responseHeaders), request.url, check.tagUrl);
  if (reason !== undefined) {
    delivery.reason ??= reason;
    return leave();
  }
  const startMs = performance.now();
  const body = await readBody(delivery, requestId, startMs);
  if (body === undefined) {
    // DevTools cannot let a response go on whose body was read in part. The document is requested again, and then
    // served unchanged.
    check.untagged.set(
      withoutQuery(request.url),
      "the document arrives in parts, and waiting for its end would change it",
    );
    delivery.isDropped = true;
    await cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    return;
  }
  delivery.heldMs = performance.now() - startMs;
  const placed = insertTag(
    body,
    readHeader(responseHeaders, "content-type"),
    writeTag(check.tagUrl, check.tag),
  );
  const problem =
    "reason" in placed ? placed.reason : explainBlocked(placed.policies, request.url, check.tagUrl);
  if (problem !== undefined) delivery.reason ??= problem;
  else {
    delivery.hasDocument = true;
    if (networkId !== undefined && delivery.tagged.size < REMEMBERED_MAX) delivery.tagged.add(networkId);
  }
  await cdp.send("Fetch.fulfillRequest", {
    requestId,
    responseCode: status,
    responseHeaders: responseHeaders.filter(({ name }) => !BODY_HEADERS.has(name.toLowerCase())),
    body: ("reason" in placed || problem !== undefined ? body : placed.body).toString("base64"),
  });
}

/**
 * Reads the body of a response. Undefined if it is larger than 10 MiB, or if the first document of a load takes too
 * long.
 */
async function readBody(delivery: Delivery, requestId: string, startMs: number): Promise<Buffer | undefined> {
  const { cdp } = delivery;
  const { stream: handle } = await cdp.send("Fetch.takeResponseBodyAsStream", { requestId });
  const chunks: Buffer[] = [];
  let size = 0;
  const isFirst = delivery.tagged.size === 0;
  const deadline = createDeadline(isFirst ? { ms: HOLD_MS_MAX - (performance.now() - startMs) } : {});
  try {
    for (;;) {
      const part = await deadline.race(cdp.send("IO.read", { handle, size: CHUNK_BYTES }), () => undefined);
      if (part === undefined) return undefined;
      const chunk = Buffer.from(part.data, part.base64Encoded ? "base64" : "utf8");
      size += chunk.length;
      if (size > DOCUMENT_BYTES_MAX) return undefined;
      chunks.push(chunk);
      if (part.eof) return Buffer.concat(chunks);
    }
  } finally {
    void cdp.send("IO.close", { handle }).catch(() => {});
  }
}

/** Writes the tag as the service prints it. Without `async`, the page waits for the script. */
const writeTag = (url: string, tag: ScriptTag): string =>
  `<script${tag === "async" ? " async" : ""} src="${url}"></script>`;

const readHeader = (headers: Header[], wanted: string): string =>
  headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";

const readPolicies = (headers: Header[]): string[] =>
  headers
    .filter(({ name }) => name.toLowerCase() === "content-security-policy")
    .flatMap(({ value }) => value.split("\n").flatMap(splitPolicies));

function explainUntaggable(headers: Header[]): string | undefined {
  const type = readHeader(headers, "content-type");
  // The browser may still take the document for HTML.
  if (type.trim() === "") return "the document has no Content-Type";
  if (!/^\s*text\/html\b/i.test(type)) return `the document is no HTML, but ${type.slice(0, 100)}`;
  return /^\s*attachment/i.test(readHeader(headers, "content-disposition"))
    ? "the document is a download"
    : undefined;
}

function explainBlocked(policies: string[], page: string, script: string): string | undefined {
  const [blocking] = findBlockingPolicies(policies, new URL(page), new URL(script));
  return blocking && `the page's Content-Security-Policy (${blocking.directive}) blocks the tag`;
}

/** Returns an address without its query and fragment: how a page is served seldom depends on them. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "");
