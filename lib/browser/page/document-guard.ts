import type { CDPSession } from "playwright";
import { FAILED_HEADER, refusedHeader } from "#lib/net/proxy/proxy-headers.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { PausedResponse } from "./page-downloads.ts";

type DocumentGuardOptions = {
  /** The guard of the browser's listeners. */
  guard: ListenerGuard;
  /** Returns the current id of the page's main frame. */
  mainFrameId: () => string;
  /** Returns why a document may not be requested; undefined if it may be. Omitted if a proxy checks every request. */
  refuse: ((url: string) => Promise<string | undefined>) | undefined;
  explain: (url: string, errorReason: string) => Promise<string>;
  /** Takes over a response that may be a download. @returns whether it took over the response. */
  capture: (response: PausedResponse) => boolean;
  /** Called when the guard stops a navigation of the main frame. The page then still shows its current document. */
  onRefused: (loaderId: string | undefined, reason: string, url: string) => void;
};

type Header = { name: string; value: string };
/** The fields of `Fetch.requestPaused` that are read here. */
type PausedEvent = PausedResponse & { frameId: string; responseErrorReason?: string };

/** Maximum length of the reason of a refusal. It may contain an address or a header that the site has chosen. */
const REASON_CHARS_MAX = 500;

/**
 * Stops navigations of the main frame that cannot show a page, so that the current document stays. These are
 * navigations whose address or redirect is refused, whose server cannot be reached or has an invalid certificate, or
 * whose response is 204 or 205. A response with an HTTP error is shown like any other page. In other frames, only
 * requests for refused addresses are stopped.
 * Source: `security.md`, What leaves the service.
 */
export async function guardDocuments(cdp: CDPSession, options: DocumentGuardOptions): Promise<void> {
  const { mainFrameId, refuse, explain } = options;
  const onRefused = ({ networkId, request }: PausedEvent, reason: string) =>
    options.onRefused(networkId, shorten(reason, REASON_CHARS_MAX), request.url);

  // Errors are ignored, because the request no longer exists if the page has navigated or closed.
  const answer = (work: Promise<unknown>) => void work.catch(() => {});
  const abort = (requestId: string) =>
    answer(cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }));
  const go = (requestId: string) => answer(cdp.send("Fetch.continueRequest", { requestId }));

  const explainOrName = (url: string, errorReason: string) =>
    explain(url, errorReason).catch(() => `${url} could not be loaded`);

  async function onRequest(event: PausedEvent, isMain: boolean): Promise<void> {
    const { requestId, request } = event;
    const reason = await refuse?.(request.url).catch(() => "the address could not be checked");
    if (reason === undefined) return go(requestId);
    if (isMain) onRefused(event, reason);
    abort(requestId);
  }
  async function onResponse(event: PausedEvent): Promise<void> {
    const { requestId, request, responseErrorReason, responseHeaders = [] } = event;
    if (responseErrorReason === "Aborted") return abort(requestId);
    const reason =
      responseErrorReason === undefined
        ? readRefusal(responseHeaders, event.responseStatusCode)
        : await explainOrName(request.url, responseErrorReason);
    if (reason !== undefined) {
      onRefused(event, reason);
      abort(requestId);
    } else if (!options.capture(event)) go(requestId);
  }
  const onPaused = (event: PausedEvent) => {
    const isMain = event.frameId === mainFrameId();
    const isResponse = event.responseStatusCode !== undefined || event.responseErrorReason !== undefined;
    if (!isResponse) return onRequest(event, isMain);
    if (isMain) return onResponse(event);
    if (!options.capture(event)) go(event.requestId);
  };
  cdp.on("Fetch.requestPaused", options.guard(onPaused));

  const documents = { urlPattern: "*", resourceType: "Document" } as const;
  const response = { ...documents, requestStage: "Response" } as const;
  const request = { ...documents, requestStage: "Request" } as const;
  await cdp.send("Fetch.enable", { patterns: refuse ? [request, response] : [response] });
}

function readRefusal(headers: Header[], status: number | undefined): string | undefined {
  const header = headers.find(
    ({ name }) => name.toLowerCase() === refusedHeader || name.toLowerCase() === FAILED_HEADER,
  );
  if (header) return header.value;
  return status === 204 || status === 205 ? `the address answered ${status}, which is no page` : undefined;
}
