import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test as base, expect } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { findFreePort, type RunningService, startService } from "../fixtures/service.ts";
import { script } from "./journey.ts";

// Tests a page that an agent deployed, in the browser of a person who is signed in and has the session open.

const FONT = "node_modules/geist/dist/fonts/geist-mono/GeistMono-Regular.woff2";

/**
 * Code for the deployed page. It uses features that must work, such as modules, fonts and pictures from the page's own
 * files.
 */
const WORKS = `
import { word } from "./lib/word.js";
const results = { module: word };
results.json = (await (await fetch("data/values.json")).json()).value;
results.css = getComputedStyle(document.querySelector("h1")).color;
await document.fonts.load("16px Own");
results.font = [...document.fonts].map(({ status }) => status).join();
results.picture = await new Promise((resolve) => {
  const image = new Image();
  image.onload = () => resolve("loaded " + image.width);
  image.onerror = () => resolve("failed");
  image.src = "/p/" + location.pathname.split("/")[2] + "/pixel.svg";
});
results.dynamic = (await import("./lib/late.js")).default;
`;

/** Code for the deployed page. It tries to access the person's session, data and storage. All attempts must fail. */
const ATTACKS = `
const { main, sessionId } = Object.fromEntries(new URLSearchParams(location.search));
const session = main + "/s/" + sessionId;
const attempt = async (name, act) => {
  try { results[name] = String(await act()); } catch (error) { results[name] = error.name; }
};
const within = (promise, value = "nothing") =>
  Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 3000, value))]);
await attempt("origin", () => self.origin);
await attempt("cookie", () => document.cookie || "empty");
await attempt("set cookie", () => { document.cookie = "planted=1"; return "set"; });
await attempt("localStorage", () => localStorage.length);
await attempt("sessionStorage", () => sessionStorage.length);
await attempt("indexedDB", () => within(new Promise((resolve, reject) => {
  const opening = indexedDB.open("x");
  opening.onsuccess = () => resolve("open");
  opening.onerror = () => reject(opening.error);
})));
await attempt("caches", () => caches.open("x"));
await attempt("service worker", () => navigator.serviceWorker.register("lib/word.js"));
await attempt("read session", async () => (await fetch(main + "/api/sessions/" + sessionId, { credentials: "include" })).text());
await attempt("read page", async () => (await fetch(session, { credentials: "include" })).text());
await attempt("read sessions", async () => (await fetch(main + "/api/sessions", { credentials: "include" })).text());
await attempt("post message", async () => (await fetch(session + "/actions/messages", {
  method: "POST", credentials: "include", headers: { "content-type": "application/json" },
  body: JSON.stringify({ text: "planted by fetch", mode: "queue" }),
})).status);
await attempt("post simple", async () => (await fetch(session + "/actions/messages", {
  method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ text: "planted by no-cors", mode: "queue" }),
})).status);
await attempt("start session", async () => (await fetch(main + "/actions/sessions", {
  method: "POST", mode: "no-cors", credentials: "include",
  body: JSON.stringify({ messages: [{ role: "user", parts: [{ type: "text", text: "planted session" }] }] }),
})).status);
await attempt("unpublish", async () => (await fetch(session + "/actions/pages/" + location.pathname.split("/")[2] + "/unpublish", {
  method: "POST", mode: "no-cors", credentials: "include",
})).status);
await attempt("beacon", () => navigator.sendBeacon(session + "/actions/cancel", "{}"));
await attempt("socket", () => within(new Promise((resolve) => {
  const socket = new WebSocket(main.replace("http", "ws") + "/api/sessions/" + sessionId + "/live");
  // It opens without a credential, which the first frame has to bring.
  socket.onopen = () => socket.send('{"type":"control.take"}');
  socket.onmessage = ({ data }) => resolve("read " + data);
  socket.onclose = ({ code }) => resolve("closed " + code);
})));
await attempt("event stream", () => within(new Promise((resolve) => {
  const stream = new EventSource(main + "/api/sessions/" + sessionId + "/requests/x/stream", { withCredentials: true });
  stream.onopen = () => resolve("open");
  stream.onerror = () => resolve("refused");
})));
await attempt("frame", async () => {
  const frame = document.createElement("iframe");
  frame.src = session;
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await within(loaded);
  return frame.contentWindow.document.title;
});
await attempt("own frame", async () => {
  const frame = document.createElement("iframe");
  frame.src = "other.html";
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await within(loaded);
  return frame.contentDocument === null ? "closed" : "open";
});
await attempt("popup", async () => {
  const popup = open(session);
  // The empty page before it may be read; the session page must throw.
  while (popup && popup.document.title === "") await new Promise((resolve) => setTimeout(resolve, 20));
  return popup ? popup.document.title : "no popup";
});
await attempt("opener", () => window.opener === null ? "none" : window.opener.document.title);
await attempt("form", async () => {
  const form = document.createElement("form");
  form.method = "POST";
  form.enctype = "text/plain";
  form.target = "_blank";
  form.action = session + "/actions/messages";
  const field = document.createElement("input");
  field.name = '{"text":"planted by form","mode":"queue","x":"';
  field.value = '"}';
  form.append(field);
  document.body.append(form);
  form.submit();
  return "sent";
});
await attempt("leave", () => { top.location.hash = "stays"; return "own hash only"; });
`;

const FILES: Record<string, string> = {
  "index.html": `<!doctype html><html lang="en"><title>Hostile</title>
    <style>@font-face { font-family: Own; src: url(own.woff2) }</style>
    <link rel="stylesheet" href="./css/style.css"><h1>Page</h1><pre id="out">running</pre>
    <script type="module" src="app.js"></script></html>`,
  "css/style.css": "@import 'more.css';",
  "css/more.css": "h1 { color: rgb(1, 2, 3); font-family: Own }",
  "lib/word.js": 'export const word = "imported";',
  "lib/late.js": 'export default "late";',
  "data/values.json": '{"value":"fetched"}',
  "pixel.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  "other.html": "<title>Other</title>",
  "app.js": `${WORKS}\n${ATTACKS}\ndocument.querySelector("#out").textContent = JSON.stringify(results);`,
};

const test = base.extend<{ service: RunningService; isSplit: boolean }>({
  isSplit: [false, { option: true }],
  async service({ isSplit }, use) {
    const model = await startScriptedModel();
    const call = { name: "deploy_landing_page", arguments: { folder: "site" } };
    script(model, {
      "[page]": [{ text: "Done." }],
      "[deploy]": [{ toolCalls: [call] }, { text: "Deployed." }],
    });
    const port = await findFreePort();
    const service = await startService(
      {
        OPENAI_BASE_URL: model.baseUrl,
        ...(isSplit && { PUBLIC_PAGES_ORIGIN: `http://localhost:${port}` }),
      },
      { port },
    );
    await use(service);
    await service.close();
    await model.close();
  },
});

for (const isSplit of [false, true]) {
  test.describe(isSplit ? "with PUBLIC_PAGES_ORIGIN" : "on the origin of the service", () => {
    test.use({ isSplit });
    test("a hostile page cannot access anything of the person, and works as a page", async ({
      service,
      page,
    }) => {
      const { sessionId, shareUrl, url } = await deployHostilePage(service);
      // The person is signed in and has the session open. The origin of the service has data in the browser's storage.
      await logInOn(page, service.loginUrl);
      await page.goto(service.baseUrl + shareUrl);
      await page.evaluate(() => localStorage.setItem("secret", "of the service"));
      const cookies = (await page.context().cookies()).map(({ name }) => name);
      expect(cookies.length).toBeGreaterThan(1);
      const before = await readMessages(service, sessionId);

      const answers: { cookie: string | undefined; setCookie: string | undefined }[] = [];
      page.context().on("response", async (response) => {
        if (!new URL(response.url()).pathname.startsWith("/p/")) return;
        const setCookie = (await response.allHeaders())["set-cookie"];
        answers.push({ cookie: (await response.request().allHeaders()).cookie, setCookie });
      });
      const posted: string[] = [];
      page.context().on("response", async (response) => {
        const { pathname } = new URL(response.url());
        if (response.request().method() === "POST") posted.push(`${pathname} ${response.status()}`);
      });
      // If the browser withholds a response from the page, the browser reports the request as failed.
      page.context().on("requestfailed", (request) => {
        const { pathname } = new URL(request.url());
        const why = request.failure()?.errorText ?? "";
        if (request.method() === "POST" && /BLOCKED_BY_RESPONSE/.test(why))
          posted.push(`${pathname} withheld`);
      });
      const popup = page.waitForEvent("popup");
      // Opens the deployed page as a link on the session page does.
      await page.evaluate(
        (address) => window.open(address),
        `${url}?main=${service.baseUrl}&sessionId=${sessionId}`,
      );
      const hostilePage = await popup;
      await expect(hostilePage.locator("#out")).not.toHaveText("running");
      const results = JSON.parse((await hostilePage.locator("#out").textContent()) ?? "");
      expect(results).toEqual({
        module: "imported",
        json: "fetched",
        css: "rgb(1, 2, 3)",
        font: "loaded",
        picture: "loaded 7",
        dynamic: "late",
        origin: "null",
        cookie: "SecurityError",
        "set cookie": "SecurityError",
        localStorage: "SecurityError",
        sessionStorage: "SecurityError",
        indexedDB: "SecurityError",
        caches: "SecurityError",
        "service worker": expect.stringMatching(/SecurityError|TypeError|InvalidStateError/),
        "read session": "TypeError",
        "read page": "TypeError",
        "read sessions": "TypeError",
        "post message": "TypeError",
        // The next requests are sent without cookies. Because of the resource policy of the responses, the browser
        // withholds the responses from the page.
        "post simple": "TypeError",
        "start session": "TypeError",
        unpublish: "TypeError",
        beacon: "true",
        socket: "closed 4001",
        "event stream": "refused",
        frame: expect.stringMatching(/SecurityError|TypeError/),
        "own frame": "closed",
        popup: "SecurityError",
        opener: expect.stringMatching(/SecurityError|none/),
        form: "sent",
        leave: "own hash only",
      });
      // The service responds to all requests. The submitted form shows its response, which is a refusal. The browser
      // withholds the other responses.
      const actions = `/s/${sessionId}/actions`;
      const refused = [
        `${actions}/messages 403`,
        `${actions}/messages withheld`,
        "/actions/sessions withheld",
        `${actions}${new URL(url).pathname.replace("/p/", "/pages/")}unpublish withheld`,
        `${actions}/cancel withheld`,
      ].sort();
      await expect.poll(() => posted.toSorted()).toEqual(refused);
      expect(answers.length).toBeGreaterThan(8);
      expect(answers.every(({ setCookie }) => setCookie === undefined)).toBe(true);
      if (isSplit) expect(answers.every(({ cookie }) => cookie === undefined)).toBe(true);

      expect(await readMessages(service, sessionId)).toEqual(before);
      const { data } = await (await service.call("GET", "/api/sessions")).json();
      expect(data.map(({ id }: { id: string }) => id)).toEqual([sessionId]);
      expect((await fetch(url)).status).toBe(200);
      // The deployed page has not changed the storage and the cookies of the service's origin.
      expect(await page.evaluate(() => localStorage.getItem("secret"))).toBe("of the service");
      const names = (await page.context().cookies()).map(({ name }) => name);
      expect(names).not.toContain("planted");
    });
  });
}

/** Creates a session whose agent deploys the hostile files. */
async function deployHostilePage(service: RunningService) {
  const created = await service.create("[page] Prepare");
  await service.completed(created.statusUrl);
  const folder = join(service.dataDir, "workspaces", created.sessionId, "site");
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await writeFile(join(folder, "own.woff2"), await readFile(FONT));
  return { ...created, url: await deployFolder(service, created.sessionId) };
}

async function deployFolder(service: RunningService, sessionId: string): Promise<string> {
  const posted = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, {
    text: "[deploy] Deploy it",
  });
  await service.completed((await posted.json()).statusUrl);
  const answer = await service.call("GET", `/api/sessions/${sessionId}/pages`);
  return (await answer.json()).data[0].url;
}

async function readMessages(service: RunningService, sessionId: string): Promise<unknown> {
  const answer = await service.call("GET", `/api/sessions/${sessionId}/messages`);
  return (await answer.json()).data;
}
