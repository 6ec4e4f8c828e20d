import { request as requestHttp } from "node:http";
import { text } from "node:stream/consumers";
import { startTestSite } from "#lib/browser/testing.ts";

/** A server between the browser and an app. It adds the tag of a published variant to every HTML document. */
export type FrontServer = {
  origin: string;
  /** The script that the tag loads. Null for documents without the tag. */
  variant: string | null;
  close: () => Promise<void>;
};

/** The app's scripts arrive this much later, so that the variant is there before the page is hydrated. */
const SCRIPT_DELAY_MS = 100;
const TAG = `<script async src="/published-variant.js"></script>`;

/** Starts a front server for the app at `target`. */
export async function startFrontServer(target: string): Promise<FrontServer> {
  const front: FrontServer = { origin: "", variant: null, close: () => Promise.resolve() };
  const site = await startTestSite((request, response) => {
    if (request.url === "/published-variant.js") {
      response.writeHead(200, {
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "no-store",
      });
      response.end(front.variant ?? "");
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
        const isHtml = type.includes("html") && front.variant !== null;
        const { "content-length": _length, "transfer-encoding": _encoding, ...kept } = answer.headers;
        const location = kept.location?.replace(target, "");
        const send = () =>
          response.writeHead(answer.statusCode ?? 502, { ...kept, ...(location && { location }) });
        if (isHtml) {
          const html = await text(answer);
          send().end(html.replace(/<head[^>]*>/i, (head) => head + TAG));
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
