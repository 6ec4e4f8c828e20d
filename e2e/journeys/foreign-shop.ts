import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "./journey.ts";

type Answer = { body: string; headers?: Record<string, string> };

/** Starts a site of a third party. `pages` maps each path to the page at that path. */
async function startSite(pages: Map<string, Answer>) {
  const listener: RequestListener = (request, response) => {
    const page = pages.get(request.url ?? "");
    response.writeHead(page ? 200 : 404, { "content-type": "text/html; charset=utf-8", ...page?.headers });
    response.end(page?.body ?? "");
  };
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    /** Serves a page whose head contains this HTML. @returns the address of the page. */
    serve(path: string, head: string, headers: Record<string, string> = {}) {
      const body = `<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,">${head}</head><body><h1>Shop</h1><p id="pay">Pay</p></body></html>`;
      pages.set(path, { body, headers });
      return url + path;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A test with the shop of a third party. The pages of the shop load published variants. */
export const site = test.extend<{ shop: Awaited<ReturnType<typeof startSite>> }>({
  shop: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from this pattern
    async ({}, use) => {
      const started = await startSite(new Map());
      await use(started);
      await started.close();
    },
    { scope: "test" },
  ],
});
