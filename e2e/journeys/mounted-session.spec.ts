import { gzipSync } from "node:zlib";
import { expect } from "@playwright/test";
import type { Plugin } from "esbuild";
import { compile } from "svelte/compiler";
import { bundleForPage } from "#e2e/variants/runtime/frameworks/framework.ts";
import { createLink, embedding } from "./embed-host.ts";
import { goTo, script, toolsOf } from "./journey.ts";

embedding.use({ viewport: { width: 1280, height: 800 } });

/** A plain page that mounts a session and records what it reports. */
const plainPage = (baseUrl: string, shareUrl: string) => `<main></main><script type="module">
  import { mountSession } from "/client/mount-session.js";
  const options = ${JSON.stringify({ baseUrl, shareUrl })};
  const session = mountSession(document.querySelector("main"), options);
  const events = [];
  for (const name of ["deliverable", "annotation", "height"])
    session.on(name, (detail) => events.push({ name, detail }));
  Object.assign(window, { session, events });
</script>`;

embedding(
  "a plain page mounts a session, follows it, messages its agent and takes control",
  async ({ page, sites, stage: { model, service, webPage } }) => {
    model.respondWith(({ kind, userText, answersSoFar }) => {
      if (kind === "structured") return { json: { title: "Green" } };
      return answersSoFar === 0 && userText.includes("[look]") ? goTo(webPage.url) : { text: "Looked." };
    });
    const { sessionId, shareUrl, statusUrl } = await service.create("[look]", {
      outputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      tools: { externalTurnExclude: ["elicit_user_input"] },
    });
    await service.completed(statusUrl);
    await page.goto(sites.allowed.serve("/plain", plainPage(service.baseUrl, shareUrl)));
    const state = () => page.evaluate("session.getState()");
    await expect.poll(state).toMatchObject({
      status: "ready",
      role: "drive",
      endReason: null,
      session: { connection: "open", turnState: "idle", control: null, browserStatus: "ready" },
      deliverable: { status: "ready", value: { title: "Green" } },
    });

    const accepted = await page.evaluate('session.send("[again] And now?")');
    expect(accepted).toMatchObject({ queued: false, requestId: expect.stringMatching(/^req_/) });
    await expect.poll(() => page.evaluate('events.some(({ name }) => name === "deliverable")')).toBe(true);
    // A program sent the message, so the turn lacks the tools of a person's turns.
    const turn = model.requests.findLast(
      ({ kind, userText }) => kind === "turn" && userText.includes("[again]"),
    );
    expect(toolsOf(turn)).not.toContain("elicit_user_input");

    await page.evaluate("session.takeOver()");
    await expect(page.frameLocator("iframe").getByText("You have control")).toBeVisible();
    expect(await state()).toMatchObject({ session: { control: "frame" } });
    await page.evaluate('session.giveBack("Done here.")');
    expect(await state()).toMatchObject({ session: { control: null } });

    const annotated = await service.call("POST", `/api/sessions/${sessionId}/annotations/webhook`, {
      event: "submit",
      output: "Bigger, please",
      annotations: [{ type: "comment", selector: "h1", comment: "Bigger, please" }],
      url: webPage.url,
    });
    expect(annotated.status).toBe(200);
    const find = 'events.find(({ name }) => name === "annotation")?.detail.output';
    await expect.poll(() => page.evaluate(find)).toBe("Bigger, please");
    expect(await page.evaluate('events.some(({ name, detail }) => name === "height" && detail > 100)')).toBe(
      true,
    );
    const frame = page.frameLocator("iframe");
    await frame
      .getByRole("button", { name: /^Structured result/ })
      .first()
      .click();
    await frame.getByRole("tab", { name: /^Annotations/ }).click();
    await frame.getByRole("button", { name: "Resolve", exact: true }).click();
    await expect(frame.getByText("Nothing is open.")).toBeVisible();
  },
);

embedding(
  "a frame that loads again while a message is on its way is ready again, and the message arrives once",
  async ({ page, sites, stage: { model, service } }) => {
    script(model, { "[hello]": [{ text: "Hello." }], "[reloaded]": [{ text: "Here again." }] });
    const session = await service.create("[hello]");
    await service.completed(session.statusUrl);
    await page.goto(sites.allowed.serve("/reloaded", plainPage(service.baseUrl, session.shareUrl)));
    const status = () => page.evaluate("session.getState().status");
    await expect.poll(status).toBe("ready");
    await page.evaluate(`window.statuses = []; session.on("state", ({ status }) => statuses.push(status))`);
    await page.frames()[1]?.evaluate("location.reload()");
    expect(await page.evaluate('session.send("[reloaded]")')).toMatchObject({
      requestId: expect.any(String),
    });
    await expect(page.frameLocator("iframe").getByText("Here again.")).toBeVisible();
    expect(await status()).toBe("ready");
    expect(await page.evaluate("statuses")).toContain("loading");
    expect(
      model.requests.filter(({ kind, userText }) => kind === "turn" && userText.includes("[reloaded]")),
    ).toHaveLength(1);
  },
);

embedding(
  "forged messages change nothing: those of other frames at the host page, and those of other windows at the frame",
  async ({ page, sites, stage: { model, service } }) => {
    script(model, { "[hello]": [{ text: "Hello." }] });
    const session = await service.create("[hello]");
    await service.completed(session.statusUrl);
    await page.goto(sites.allowed.serve("/forged", plainPage(service.baseUrl, session.shareUrl)));
    await expect.poll(() => page.evaluate("session.getState().status")).toBe("ready");
    // Another frame of another site sends a message to the host page, and a command to the frame of the session.
    const forgery = `<script>
      const envelope = { protocol: "agent-session", version: 1 };
      parent.postMessage({ ...envelope, type: "ended", reason: "unauthorized" }, "*");
      parent.frames[0].postMessage({ ...envelope, type: "hello" }, "*");
      parent.frames[0].postMessage({ ...envelope, type: "send", id: "forged", text: "[forged]" }, "*");
      parent.postMessage("forged", "*");
    </script>`;
    const forged = page.evaluate(
      `new Promise((done) => addEventListener("message", ({ data }) => data === "forged" && done(true)))`,
    );
    await page.evaluate(
      (src) => {
        document.body.append(Object.assign(document.createElement("iframe"), { src }));
      },
      sites.foreign.serve("/forger", forgery),
    );
    expect(await forged).toBe(true);
    // A command of the host page that the frame answers after the forged one shows that the forged one had no effect.
    await page.evaluate('session.send("[own]")');
    await expect(page.frameLocator("iframe >> nth=0").getByText("[own]")).toBeVisible();
    expect(await page.evaluate("session.getState().status")).toBe("ready");
    expect(model.requests.some(({ userText }) => userText.includes("[forged]"))).toBe(false);
  },
);

embedding(
  "a visitor's commands are refused, a new link replaces an ended one, and a wrong link is reported",
  async ({ page, sites, stage: { model, service }, cleanConsole }) => {
    cleanConsole.allow(/404/);
    script(model, { "[hello]": [{ text: "Hello." }] });
    const session = await service.create("[hello]");
    await service.completed(session.statusUrl);
    const link = await createLink(service, session.sessionId, { role: "view" });
    await page.goto(sites.allowed.serve("/viewer", plainPage(service.baseUrl, link.shareUrl)));
    const status = () => page.evaluate("[session.getState().status, session.getState().endReason]");
    await expect.poll(status).toEqual(["ready", null]);
    const refusal = (command: string) =>
      page.evaluate(`session.${command}.then(() => "done", (error) => error.message)`);
    expect(await refusal('send("more")')).toBe("this share link may view, not drive");
    expect(await refusal("takeOver()")).toBe("this share link may view, not drive");
    await service.call("DELETE", `/api/sessions/${session.sessionId}/share-links/${link.id}`);
    await expect.poll(status).toEqual(["ended", "unauthorized"]);
    expect(await refusal('send("more")')).toBe("the frame does not show the session");
    // A host page of its own making sends a command all the same, and is answered.
    const answer = page.evaluate(
      (origin) =>
        new Promise((done) => {
          addEventListener("message", ({ data }) => data.id === "late" && done([data.isDone, data.error]));
          const command = { protocol: "agent-session", version: 1, type: "takeOver", id: "late" };
          document.querySelector("iframe")?.contentWindow?.postMessage(command, origin);
        }),
      service.baseUrl,
    );
    expect(await answer).toEqual([false, "the frame does not show the session at this moment"]);
    await page.evaluate((url) => Reflect.get(window, "session").setLink(url), session.shareUrl);
    await expect.poll(status).toEqual(["ready", null]);
    await expect(page.frameLocator("iframe").getByText("Hello.")).toBeVisible();
  },
);

/** Programs that mount a session in a component. `window.toggle(isShown)` shows or removes the component. */
const REACT = `
import { createElement, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import { mountSession } from "./lib/client/mount-session.ts";
function Session({ options }) {
  const place = useRef(null);
  useEffect(() => {
    const session = mountSession(place.current, options);
    window.session = session;
    return session.destroy;
  }, [options]);
  return createElement("div", { ref: place, style: { height: 400 } });
}
const root = createRoot(document.querySelector("main"));
window.toggle = (isShown) => flushSync(() => root.render(isShown ? createElement(Session, { options: window.options }) : null));`;

const VUE = `
import { createApp, h, nextTick, onBeforeUnmount, onMounted, ref } from "vue";
import { mountSession } from "./lib/client/mount-session.ts";
const Session = {
  setup() {
    const place = ref();
    onMounted(() => { window.session = mountSession(place.value, window.options); });
    onBeforeUnmount(() => window.session.destroy());
    return () => h("div", { ref: place, style: "height:400px" });
  },
};
const isShown = ref(false);
createApp({ render: () => (isShown.value ? h(Session) : null) }).mount("main");
window.toggle = (next) => { isShown.value = next; return nextTick(); };`;

const SVELTE_COMPONENT = `
<script>
  import { mountSession } from "./lib/client/mount-session.ts";
  function session(place) {
    const mounted = mountSession(place, window.options);
    window.session = mounted;
    return { destroy: mounted.destroy };
  }
</script>
<div use:session style="height:400px"></div>`;
const SVELTE = `
import { flushSync, mount, unmount } from "svelte";
import Session from "session.svelte";
let shown;
window.toggle = async (isShown) => {
  if (isShown) shown = mount(Session, { target: document.querySelector("main") });
  else await unmount(shown);
  flushSync();
};`;

const svelteCompiler: Plugin = {
  name: "svelte",
  setup(build) {
    const root = new URL("../..", import.meta.url).pathname;
    build.onResolve({ filter: /^session\.svelte$/ }, ({ path }) => ({ path, namespace: "svelte" }));
    build.onLoad({ filter: /.*/, namespace: "svelte" }, () => ({
      contents: compile(SVELTE_COMPONENT, { generate: "client", filename: "session.svelte" }).js.code,
      resolveDir: root,
    }));
  },
};

/** Counts the listeners that the page has on its window, by wrapping the functions that add and remove them. */
const COUNT_LISTENERS = `
  const listeners = new Set();
  const { addEventListener: add, removeEventListener: remove } = window;
  window.addEventListener = (name, listener, ...rest) => { if (name === "message") listeners.add(listener); add.call(window, name, listener, ...rest); };
  window.removeEventListener = (name, listener, ...rest) => { listeners.delete(listener); remove.call(window, name, listener, ...rest); };
  window.countListeners = () => listeners.size;`;

const FRAMEWORKS = {
  React: { source: REACT, options: {} },
  Vue: { source: VUE, options: {} },
  Svelte: { source: SVELTE, options: { plugins: [svelteCompiler], conditions: ["production", "browser"] } },
};

for (const [name, { source, options }] of Object.entries(FRAMEWORKS))
  embedding(
    `${name}: a component mounts and removes a session ten times, and leaves no frame, listener or connection`,
    async ({ page, sites, stage: { model, service } }) => {
      script(model, { "[hello]": [{ text: "Hello." }] });
      const session = await service.create("[hello]");
      await service.completed(session.statusUrl);
      const client = await bundleForPage(source, "production", options);
      sites.allowed.serveScript("/client.js", client);
      const mounting = { baseUrl: service.baseUrl, shareUrl: session.shareUrl, view: "conversation" };
      const sockets = new Set<string>();
      let opened = 0;
      page.on("websocket", (socket) => {
        opened += 1;
        const key = `${opened}`;
        sockets.add(key);
        socket.on("close", () => sockets.delete(key));
      });
      const body = `<main></main><script>${COUNT_LISTENERS} window.options = ${JSON.stringify(mounting)};</script><script type="module" src="/client.js"></script>`;
      await page.goto(sites.allowed.serve(`/${name}`, body));
      await page.waitForFunction(() => "toggle" in window);
      const toggle = (isShown: boolean) =>
        page.evaluate((shown) => Reflect.get(window, "toggle")(shown), isShown);
      for (let round = 0; round < 10; round++) {
        await toggle(true);
        await expect.poll(() => page.evaluate("session.getState().status")).toBe("ready");
        expect(await page.evaluate("[document.querySelectorAll('iframe').length, countListeners()]")).toEqual(
          [1, 1],
        );
        await toggle(false);
        expect(await page.evaluate("[document.querySelectorAll('iframe').length, countListeners()]")).toEqual(
          [0, 0],
        );
      }
      expect(page.frames()).toHaveLength(1);
      await expect.poll(() => [opened, sockets.size]).toEqual([10, 0]);
    },
  );

embedding("mountSession has at most 15 KB, compressed", async () => {
  const entry = 'export { mountSession } from "./lib/client/index.ts";';
  const bundle = await bundleForPage(entry, "production", { treeShaking: true });
  const bytes = gzipSync(bundle).byteLength;
  embedding.info().annotations.push({ type: "mountSession", description: `${bytes} bytes` });
  expect(bundle).toContain("agent-session");
  expect(bytes).toBeLessThanOrEqual(15_000);
});
