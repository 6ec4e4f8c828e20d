import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { buildClient } from "#lib/setup/build-client.mjs";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { type RunningService, startService } from "../fixtures/service.ts";
import { type Stage, test } from "./journey.ts";

/** Starts a site of its own. Its pages are added by path; below `/client/`, it serves the built client. */
async function startHostSite(clientFolder: string) {
  const pages = new Map<string, { type: string; body: string }>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://host");
    void answer(pathname).then(
      ({ type, body }) => response.writeHead(200, { "content-type": type }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  async function answer(pathname: string) {
    const page = pages.get(pathname);
    if (page) return page;
    if (!pathname.startsWith("/client/")) throw new Error("no such page");
    const body = await readFile(join(clientFolder, pathname.slice("/client".length)), "utf8");
    return { type: "text/javascript", body };
  }
  await new Promise<void>((done) => server.listen(0, "localhost", done));
  // `localhost` and the service's 127.0.0.1 are different sites.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    /** Serves a page with this body. @returns the address of the page. */
    serve(path: string, content: string): string {
      const head = `<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>Host</title><style>html,body{margin:0;height:100%}main{height:100%}iframe{border:0;width:100%;height:100%;display:block}</style>`;
      const body = `<!doctype html><html lang="en"><head>${head}</head><body>${content}</body></html>`;
      pages.set(path, { type: "text/html; charset=utf-8", body });
      return origin + path;
    },
    serveScript(path: string, body: string): void {
      pages.set(path, { type: "text/javascript", body });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

type HostSite = Awaited<ReturnType<typeof startHostSite>>;

/** A site whose pages may show frames of the service, and one whose pages may not. */
type HostSites = { allowed: HostSite; foreign: HostSite };

/**
 * A test with host pages on other sites than the service's, in a browser that blocks third-party cookies.
 */
export const embedding = test.extend<object, { sites: HostSites }>({
  launchOptions: [
    async ({ launchOptions }, use) =>
      use({
        ...launchOptions,
        args: [...(launchOptions.args ?? []), "--test-third-party-cookie-phaseout"],
      }),
    { scope: "worker" },
  ],
  sites: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from this pattern
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "client-embedding-"));
      await buildClient(process.execPath, folder);
      const sites = { allowed: await startHostSite(folder), foreign: await startHostSite(folder) };
      await use(sites);
      await sites.allowed.close();
      await sites.foreign.close();
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 120_000 },
  ],
  stage: [
    async ({ sites }, use) => {
      const model = await startScriptedModel();
      const service = await startService({
        OPENAI_BASE_URL: model.baseUrl,
        BROWSER_IDLE_MS: "60000",
        NETWORK_ALLOW: "127.0.0.1,localhost",
        EMBED_ORIGINS: `${sites.allowed.origin}, https://www.example`,
      });
      // The agents open a page of the allowed site, because these tests need no page that changes.
      const url = sites.allowed.serve("/green", "<style>body{background:rgb(0,128,0)}</style><h1>Green</h1>");
      const webPage: Stage["webPage"] = { typed: [], url, close: async () => {} };
      await use({ model, service, webPage });
      await service.close();
      await model.close();
    },
    { scope: "worker", timeout: 300_000 },
  ],
});

/** Returns the address of the frame of a link, with the token in the fragment. */
export function frameUrl(service: RunningService, shareUrl: string, query = ""): string {
  const link = new URL(shareUrl, service.baseUrl);
  const token = link.searchParams.get("key");
  return `${service.baseUrl}${link.pathname.replace("/s/", "/embed/")}${query}#key=${token}`;
}

/** Creates a share link. @returns its path, and its id. */
export async function createLink(
  service: RunningService,
  sessionId: string,
  link: { role: "view" | "comment" | "drive"; expiresAt?: string; embedOrigins?: string[] },
): Promise<{ shareUrl: string; id: string }> {
  const answer = await service.call("POST", `/api/sessions/${sessionId}/share-links`, link);
  if (answer.status !== 201) throw new Error(`the link was refused: ${await answer.text()}`);
  const { shareUrl, record } = (await answer.json()) as { shareUrl: string; record: { id: string } };
  return { shareUrl, id: record.id };
}

/** Opens a host page that shows a frame with this address. */
export async function openHost(page: Page, site: HostSite, src: string) {
  await page.goto(site.serve("/host", `<main><iframe title="Session" src="${src}"></iframe></main>`));
  return page.frameLocator("iframe");
}
