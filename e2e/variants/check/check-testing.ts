import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { createEvidenceMemory, startTestBrowser } from "#lib/tools/browser/test-fixture.ts";
import type { CheckReport, ViewportName } from "#lib/variant/check/check-report.ts";
import { type CheckDeps, type CheckRequest, checkVariant } from "#lib/variant/check/check-variant.ts";
import type { Change, VariantDocument, VariantPage } from "#lib/variant/document.ts";

/** A page of the test site: its HTML, or a function that responds to the request. */
type TestPage = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** What the tests of the check share: one browser and one site. */
export type CheckBench = {
  origin: string;
  /** Adds a page to the site. @returns the address of the page. */
  serve: (path: string, page: TestPage) => string;
  check: (document: VariantDocument, options?: CheckOptions) => Promise<CheckReport>;
  browser: Awaited<ReturnType<typeof startTestBrowser>>;
  evidence: ReturnType<typeof createEvidenceMemory>;
  close: () => Promise<void>;
};

type CheckOptions = Partial<
  Pick<CheckRequest, "requirements" | "signal" | "onProgress" | "tag" | "pages" | "allowSubmits">
> &
  Pick<CheckDeps, "limits"> & { viewports?: ViewportName[] };

/** Puts HTML into the body of a page that has no accessibility violations of its own. */
export const html = (body: string, head = ""): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><meta name="viewport" content="width=device-width, initial-scale=1">${head}</head><body>${body}</body></html>`;

/** Creates a variant document with one page. */
export const documentOf = (
  url: string,
  changes: Change[],
  rest: Partial<Pick<VariantPage, "css" | "js" | "match">> = {},
): VariantDocument => ({ pages: [{ url, match: "path", css: "", js: "", ...rest, changes }] });

/** Returns each finding of a check as a line: `level code change`. */
export const summarize = ({ findings }: CheckReport): string[] =>
  findings.map(({ level, code, changeId }) => [level, code, changeId ?? "-"].join(" "));

/** Short, because the pages of the tests change only directly after they have loaded. */
const DEFAULT_LIMITS = { loadedMs: 200 };

/** Starts a browser, and a site on loopback. */
export async function openBench(): Promise<CheckBench> {
  const pages = new Map<string, TestPage>();
  const server = createServer((request, response) => {
    const page = pages.get(new URL(request.url ?? "/", "http://site").pathname);
    if (typeof page === "function") return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" });
    return response.end(page ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const browser = await startTestBrowser();
  const evidence = createEvidenceMemory();
  const compare = createPictureComparer();
  return {
    origin,
    browser,
    evidence,
    serve(path, page) {
      pages.set(path, page);
      return origin + path;
    },
    check(document, { limits, viewports = ["desktop"] as ViewportName[], ...options } = {}) {
      const deps = {
        evidence,
        compare,
        scriptOrigin: "https://service.example",
        limits: { ...DEFAULT_LIMITS, ...limits },
      };
      return checkVariant(deps, {
        live: browser.live,
        sessionId: "session_test",
        runId: null,
        variant: "main",
        revision: 1,
        document,
        viewports,
        signal: new AbortController().signal,
        ...options,
      });
    },
    async close() {
      server.closeAllConnections();
      await Promise.all([browser.close(), new Promise((resolve) => server.close(resolve))]);
    },
  };
}
