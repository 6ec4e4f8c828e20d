import type { IncomingMessage, ServerResponse } from "node:http";
import type { CheckBench } from "../check/check-testing.ts";
import { react } from "../runtime/frameworks/react-shop.ts";
import { svelte } from "../runtime/frameworks/svelte-shop.ts";
import { vue } from "../runtime/frameworks/vue-shop.ts";
import { ARTICLE, CHECKOUT, DASHBOARD, MENU, PRICING, SHOP } from "./site.ts";

/** Names of the pages on which the check is tried. `slow` is the article with an image that takes 2.9 s. */
export type PageName =
  | "shop"
  | "article"
  | "pricing"
  | "dashboard"
  | "checkout"
  | "menu"
  | "strict"
  | "slow"
  | "react"
  | "vue"
  | "svelte";

const SLOW_MS = 2_900;
const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

/** Serves all pages. @returns their addresses. */
export async function servePages(bench: CheckBench): Promise<Record<PageName, string>> {
  const send = (type: string, body: string, headers = {}) => {
    return (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { "content-type": type, ...headers }).end(body);
    };
  };
  bench.serve("/api/order", (request, response) => {
    request.resume().on("end", () => {
      const isPost = request.method === "POST";
      response.writeHead(isPost ? 200 : 405, { "content-type": "application/json" });
      response.end(JSON.stringify({ ok: isPost }));
    });
  });
  bench.serve("/slow.svg", (_request, response) => {
    setTimeout(() => send("image/svg+xml", IMAGE)(_request, response), SLOW_MS);
  });
  const frameworks = { react, vue, svelte };
  for (const [name, framework] of Object.entries(frameworks)) {
    const { html, client } = await framework.build("production");
    bench.serve(
      `/${name}`,
      html.replace("/client.js", `/${name}/client.js`).replace("<html>", '<html lang="en">'),
    );
    bench.serve(`/${name}/client.js`, send("text/javascript", client));
  }
  for (const path of ["/pricing-help", "/cart", "/about"]) bench.serve(path, ARTICLE);
  const policy = { "content-security-policy": "script-src 'self'" };
  const slow = ARTICLE.replace("</main>", '<img src="/slow.svg" alt="Map" width="40" height="40"></main>');
  const menu = bench.serve("/menu", MENU);
  for (const route of ["team", "work"]) bench.serve(`/menu/${route}`, MENU);
  return {
    shop: bench.serve("/shop", SHOP),
    article: bench.serve("/article", ARTICLE),
    pricing: bench.serve("/pricing", PRICING),
    dashboard: bench.serve("/dashboard", DASHBOARD),
    checkout: bench.serve("/checkout", CHECKOUT),
    menu,
    strict: bench.serve("/strict", send("text/html", ARTICLE, policy)),
    slow: bench.serve("/slow", slow),
    react: `${bench.origin}/react`,
    vue: `${bench.origin}/vue`,
    svelte: `${bench.origin}/svelte`,
  };
}
