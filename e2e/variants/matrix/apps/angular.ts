import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const VERSION = "22.2.0";

const TEMPLATE = `<main [class]="'shop shop-' + count()"><h1>Checkout</h1>
<p id="greeting" class="muted" style="color: red">Hello <b>you</b>, {{ count() }} times</p>
<div class="actions"><button id="again" type="button" (click)="again()">Pay {{ count() }}</button><button id="more" type="button">More</button></div>
<ul id="list">@for (item of items(); track item) {<li class="item" [attr.data-id]="item"><span>{{ item }}</span> <i>{{ count() }}</i></li>}</ul>
@if (count() > 0) {<section class="summary"><h2>Total</h2><p>Total {{ count() }}</p></section>}
<p id="status" [class]="'status status-' + count()">Count {{ count() }}</p>
@if (isLate()) {<p class="late">Late</p>}
<form id="form" (submit)="submit($event)"><input name="name"><button id="send">Send</button></form>
<p id="thanks">{{ thanks() }}</p>
<a id="leave" routerLink="/other">Other</a></main>`;

const APP = `
import { Component, afterNextRender, computed, signal, ChangeDetectionStrategy } from "@angular/core";
import { RouterLink, RouterOutlet, type Routes } from "@angular/router";
${ITEMS_SOURCE.replace("(count)", "(count: number)")}
@Component({ selector: "app-shop", imports: [RouterLink], template: \`${TEMPLATE}\`, changeDetection: ChangeDetectionStrategy.OnPush })
export class Shop {
  count = signal(1);
  items = computed(() => itemsOf(this.count()) ?? []);
  isLate = signal(false);
  thanks = signal("");
  constructor() { afterNextRender(() => { setTimeout(() => this.isLate.set(true), 100); }); }
  again() { this.count.update((count) => count + 1); }
  submit(event: Event) {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem("name") as HTMLInputElement;
    this.thanks.set("Thanks " + field.value);
  }
}
@Component({ selector: "app-other", imports: [RouterLink], template: '<h1>Other</h1><a routerLink="/">Back</a>' })
export class Other {}
@Component({ selector: "app-root", imports: [RouterOutlet], template: "<router-outlet />" })
export class App {}
export const routes: Routes = [{ path: "", component: Shop }, { path: "other", component: Other }];
`;

const CONFIG = `
import { type ApplicationConfig, mergeApplicationConfig, provideZonelessChangeDetection } from "@angular/core";
import { provideClientHydration, withEventReplay } from "@angular/platform-browser";
import { provideRouter } from "@angular/router";
import { provideServerRendering, RenderMode, withRoutes } from "@angular/ssr";
import { routes } from "./app";
export const config: ApplicationConfig = { providers: [provideZonelessChangeDetection(), provideRouter(routes), provideClientHydration(withEventReplay())] };
export const serverConfig = mergeApplicationConfig(config, { providers: [provideServerRendering(withRoutes([{ path: "**", renderMode: RenderMode.Server }]))] });
`;

const SERVER = `
import { AngularNodeAppEngine, createNodeRequestHandler, isMainModule, writeResponseToNodeResponse } from "@angular/ssr/node";
import { createServer } from "node:http";
import { createReadStream, existsSync, statSync } from "node:fs";
import { join } from "node:path";
const engine = new AngularNodeAppEngine({ allowedHosts: ["127.0.0.1", "localhost"] });
const browser = join(import.meta.dirname, "../browser");
export const reqHandler = createNodeRequestHandler(async (request, response) => {
  const file = join(browser, new URL(request.url ?? "/", "http://app").pathname);
  if (existsSync(file) && statSync(file).isFile()) {
    response.writeHead(200, { "content-type": file.endsWith(".js") ? "text/javascript" : "text/html" });
    createReadStream(file).pipe(response);
    return;
  }
  const answer = await engine.handle(request);
  if (answer) await writeResponseToNodeResponse(answer, response);
  else { response.writeHead(404); response.end(); }
});
if (isMainModule(import.meta.url)) createServer((request, response) => void reqHandler(request, response, () => {})).listen(Number(process.env["PORT"]), "127.0.0.1");
`;

const WORKSPACE = {
  version: 1,
  projects: {
    app: {
      projectType: "application",
      root: "",
      sourceRoot: "src",
      architect: {
        build: {
          builder: "@angular/build:application",
          options: {
            browser: "src/main.ts",
            index: "src/index.html",
            server: "src/main.server.ts",
            ssr: { entry: "src/server.ts" },
            outputMode: "server",
            outputPath: "dist",
            tsConfig: "tsconfig.json",
            optimization: { scripts: true, styles: false, fonts: false },
            security: { allowedHosts: ["127.0.0.1"] },
          },
        },
      },
    },
  },
};

/** Angular's own production build, with server rendering, hydration with event replay, and its router. */
export const angular: MatrixApp = {
  name: "Angular SSR",
  build: "`ng build`, `@angular/ssr`",
  shown: ["@angular/core", "@angular/ssr"],
  packages: {
    ...Object.fromEntries(
      ["core", "common", "compiler", "compiler-cli", "platform-browser", "platform-server", "router"].map(
        (name) => [`@angular/${name}`, VERSION],
      ),
    ),
    ...{ "@angular/ssr": VERSION, "@angular/build": VERSION, "@angular/cli": VERSION },
    ...{ rxjs: "7.8.2", tslib: "2.9.1", typescript: "6.0.3" },
  },
  files: {
    "angular.json": JSON.stringify(WORKSPACE),
    "tsconfig.json": `{ "compilerOptions": { "target": "es2022", "module": "preserve", "moduleResolution": "bundler", "experimentalDecorators": true, "skipLibCheck": true, "types": [], "lib": ["es2022", "dom"], "strict": true }, "files": ["src/main.ts", "src/main.server.ts", "src/server.ts"] }`,
    "src/index.html": `<!doctype html><html><head><title>Shop</title><base href="/"></head><body><app-root></app-root></body></html>`,
    "src/app.ts": APP,
    "src/config.ts": CONFIG,
    "src/main.ts": `import { bootstrapApplication } from "@angular/platform-browser"; import { App } from "./app"; import { config } from "./config"; bootstrapApplication(App, config);`,
    "src/main.server.ts": `import { bootstrapApplication, type BootstrapContext } from "@angular/platform-browser"; import { App } from "./app"; import { serverConfig } from "./config"; export default (context: BootstrapContext) => bootstrapApplication(App, serverConfig, context);`,
    "src/server.ts": SERVER.replace(/^/, "// @ts-nocheck\n"),
  },
  commands: [["node_modules/@angular/cli/bin/ng.js", "build"]],
  start: (folder) => serveByProgram(folder, ["dist/server/server.mjs"]),
};
