import type { CDPSession } from "playwright";
import { FAILED_HEADER, refusedHeader } from "#lib/net/proxy/proxy-headers.ts";
import type { PausedResponse } from "./page-downloads.ts";

type DocumentGuardOptions = {
  /** Returns the current id of the page's main frame. */
  mainFrameId: () => string;
  /** Returns why a document may not be requested; undefined if it may be. Omitted if a proxy checks every request. */
  refuse: ((url: string) => Promise<string | undefined>) | undefined;
  explain: (url: string, errorReason: string) => Promise<string>;
  /** Takes over a response that may be a download. @returns whether it took over the response. */
  capture: (response: PausedResponse) => boolean;
  /** Called when the guard stops a navigation of the main frame. The page then still shows its current document. */
  onRefused: (loaderId: string | undefined, reason: string) => void;
};

type Header = { name: string; value: string };

/**
 * Stops navigations of the main frame that cannot show a page, so that the current document stays. These are
 * navigations whose address or redirect is refused, whose server cannot be reached or has an invalid certificate, or
 * whose response is 204 or 205. A response with an HTTP error is shown like any other page. In other frames, only
 * requests for refused addresses are stopped.
 * Source: `security.md`, What leaves the service.
 */
export async function guardDocuments(cdp: CDPSession, options: DocumentGuardOptions): Promise<void> {
  const { mainFrameId, refuse, explain, onRefused } = options;

  // Errors are ignored, because the request no longer exists if the page has navigated or closed.
  const answer = (work: Promise<unknown>) => void work.catch(() => {});
  const abort = (requestId: string) =>
    answer(cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }));
  const go = (requestId: string) => answer(cdp.send("Fetch.continueRequest", { requestId }));

  cdp.on("Fetch.requestPaused", (event) => {
    const { requestId, request, networkId } = event;
    const isMain = event.frameId === mainFrameId();
    const isResponse = event.responseStatusCode !== undefined || event.responseErrorReason !== undefined;
    if (!isResponse) {
      const unknown = () => "the address could not be checked";
      void (refuse?.(request.url) ?? Promise.resolve(undefined)).catch(unknown).then((reason) => {
        if (reason === undefined) return go(requestId);
        if (isMain) onRefused(networkId, reason);
        abort(requestId);
      });
      return;
    }
    if (!isMain) {
      if (!options.capture(event)) go(requestId);
      return;
    }
    if (event.responseErrorReason === "Aborted") return abort(requestId);
    if (event.responseErrorReason !== undefined) {
      const unexplained = () => `${request.url} could not be loaded`;
      void explain(request.url, event.responseErrorReason)
        .catch(unexplained)
        .then((reason) => {
          onRefused(networkId, reason);
          abort(requestId);
        });
      return;
    }
    const reason = readRefusal(event.responseHeaders ?? [], event.responseStatusCode);
    if (reason === undefined) {
      if (!options.capture(event)) go(requestId);
      return;
    }
    onRefused(networkId, reason);
    abort(requestId);
  });

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
