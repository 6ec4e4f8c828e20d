import { request as requestHttp } from "node:http";
import { text } from "node:stream/consumers";
import { startTestSite } from "#lib/browser/testing.ts";

/** A server between the browser and an app. It adds scripts to every HTML document. */
export type FrontServer = {
  origin: string;
  /** The script that the tag loads. Null for documents without the tag. */
  variant: string | null;
  close: () => Promise<void>;
};

/** The app's scripts arrive this much later, so that the variant is there before the page is hydrated. */
const SCRIPT_DELAY_MS = 100;
const VARIANT = "/published-variant.js";
const FIRST_SCRIPT = "/first-script.js";

/**
 * Starts a front server for the app at `target`. `firstScript` runs before all other scripts of a document, if it is not
 * null.
 */
export async function startFrontServer(target: string, firstScript: string | null): Promise<FrontServer> {
  const front: FrontServer = { origin: "", variant: null, close: () => Promise.resolve() };
  const site = await startTestSite((request, response) => {
    const script = { [VARIANT]: front.variant, [FIRST_SCRIPT]: firstScript }[request.url ?? ""];
    if (script !== undefined) {
      response.writeHead(200, {
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "no-store",
      });
      response.end(script ?? "");
      return;
    }
    const { hostname, port, host } = new URL(target);
    const headers: NodeJS.Dict<string | string[]> = {
      ...request.headers,
      host,
      "accept-encoding": "identity",
    };
    // The app compares the origin of a form with its own address.
    if (headers.origin) headers.origin = target;
    // Every load is a first visit.
    delete headers["if-none-match"];
    const upstream = requestHttp(
      { hostname, port, path: request.url, method: request.method, headers },
      async (answer) => {
        const type = answer.headers["content-type"] ?? "";
        const tags = [
          firstScript !== null ? `<script src="${FIRST_SCRIPT}"></script>` : "",
          front.variant !== null ? `<script async src="${VARIANT}"></script>` : "",
        ].join("");
        const { "content-length": _length, "transfer-encoding": _encoding, ...kept } = answer.headers;
        const location = kept.location?.replace(target, "");
        const send = () =>
          response.writeHead(answer.statusCode ?? 502, { ...kept, ...(location && { location }) });
        if (type.includes("html") && tags !== "") {
          const html = await text(answer);
          send().end(html.replace(/<head[^>]*>/i, (head) => head + tags));
        } else if (type.includes("javascript"))
          setTimeout(() => {
            send();
            answer.pipe(response);
          }, SCRIPT_DELAY_MS);
        else {
          send();
          answer.pipe(response);
        }
      },
    );
    upstream.on("error", (error) => response.destroy(error));
    request.pipe(upstream);
  });
  return Object.assign(front, { origin: site.origin, close: site.close });
}
