import type { BrowserInput } from "../browser-service.ts";
import type { HostBrowsersDeps } from "../host/host-parts.ts";
import { insertTestSession, openTestBrowsers, startTestSite, waitFor } from "../testing.ts";
import type { StageState, StageWidget } from "./stage-state.ts";

/** The strictest policy under which a page's own scripts still run. */
const STRICT =
  "default-src 'none'; script-src 'nonce-own'; style-src 'nonce-own'; frame-src *; require-trusted-types-for 'script'; trusted-types 'none'";

type Control = HostBrowsersDeps["control"] & { set: (holder: string | undefined) => void };

/** Control that the test gives and takes. */
function createTestControl(): Control {
  let holder: string | undefined;
  const listeners = new Set<() => void>();
  return {
    holderOf: () => holder,
    isPrivate: () => false,
    readHandover: async () => {},
    follow(_sessionId, listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(next) {
      holder = next;
      for (const listener of [...listeners]) listener();
    },
  };
}

export type StageBench = Awaited<ReturnType<typeof openStageBench>>;

/**
 * Starts a browser whose stage a person watches, and a site with pages. In a page, `PORT` becomes the port of the site,
 * and `seen` is a list in which the page notes what it sees. All pages have a strict policy.
 */
export async function openStageBench(pages: Record<string, string>, over: Partial<HostBrowsersDeps> = {}) {
  const site = await startTestSite((request, response) => {
    const page = pages[request.url?.split("?")[0] ?? ""];
    if (page === undefined) return void response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": STRICT,
    });
    const head = `<!doctype html><style nonce=own>body{margin:0} .c{position:absolute;left:20px;top:20px;width:200px;height:30px}</style>
      <script nonce=own>
        var seen = [];
        var hasMoved = false;
        addEventListener("mousemove", () => { hasMoved = true; });
        function follow(element) {
          for (const type of ["input", "change", "cancel"])
            element.addEventListener(type, (event) => seen.push(type + " " + element.value + " " + event.isTrusted + event.bubbles + event.composed));
        }
      </script>`;
    response.end(head + page.replaceAll("PORT", String(site.port)));
  });
  const control = createTestControl();
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`], {
    control,
    ...over,
  });
  const { browsers } = harness;
  const sessionId = await insertTestSession(harness.db);
  let state: StageState | undefined;
  let stopWatching = () => {};
  const watch = () => {
    stopWatching = browsers.watch(sessionId, {
      onFrame() {},
      onStage(next) {
        state = next;
      },
    });
  };
  watch();

  const mouse = (x: number, y: number, action: "move" | "down" | "up"): BrowserInput => ({
    type: "mouse",
    action,
    x,
    y,
    button: action === "move" ? "none" : "left",
    clickCount: action === "move" ? 0 : 1,
    modifiers: 0,
  });
  const page = async () => (await browsers.ensure(sessionId)).page();
  return {
    site,
    control,
    browsers,
    sessionId,
    harness,
    page,
    state: () => state,
    watch,
    stopWatching: () => stopWatching(),
    async open(path: string) {
      const outcome = await browsers.navigate(sessionId, `${site.origin}${path}`);
      if (!outcome.landed) throw new Error(outcome.reason);
      const shown = await page();
      // Frames are part of the load.
      await shown.waitForLoadState("load");
      return shown;
    },
    /**
     * Clicks as a person does, when the page gets input: Chromium drops input before the first picture of a document.
     * Does not wait until the page has handled the click: a dialog may block it.
     */
    async click(x: number, y: number) {
      const shown = await page();
      let step = 0;
      const getsInput = async () => {
        step = 1 - step;
        await browsers.input(sessionId, mouse(x + step, y, "move"));
        const moved = await Promise.all(
          shown.frames().map((frame) => frame.evaluate("hasMoved").catch(() => false)),
        );
        return moved.at(-1) === true;
      };
      await waitFor(getsInput, "the page to get input");
      void browsers.input(sessionId, mouse(x, y, "down"));
      void browsers.input(sessionId, mouse(x, y, "up"));
    },
    async press(key: string, modifiers = 0) {
      const code = key === " " ? "Space" : key;
      await browsers.input(sessionId, { type: "key", action: "down", key, code, modifiers });
      await browsers.input(sessionId, { type: "key", action: "up", key, code, modifiers });
    },
    /** Waits for a widget of this kind. */
    widget: <Kind extends StageWidget["kind"]>(kind: Kind) =>
      waitFor(
        () =>
          state?.widget?.kind === kind ? (state.widget as Extract<StageWidget, { kind: Kind }>) : undefined,
        `the widget ${kind}`,
      ),
    widgetThat: (fits: (widget: StageWidget) => boolean) =>
      waitFor(() => (state?.widget && fits(state.widget) ? state.widget : undefined), "the widget"),
    noWidget: () => waitFor(() => state !== undefined && state.widget === null, "no widget"),
    answer: (widgetId: string, answer: Parameters<typeof answerOf>[1]) =>
      browsers.act(sessionId, answerOf(widgetId, answer)),
    /** What a document of the page has noted. */
    seen: async (url = "") => {
      const frame = (await page()).frames().find((each) => each.url().includes(url));
      return frame?.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    },
    async close() {
      stopWatching();
      await harness.close();
      await site.close();
    },
  };
}

type Answer = Parameters<Awaited<ReturnType<typeof openTestBrowsers>>["browsers"]["act"]>[1] & {
  type: "answer";
};
const answerOf = (widgetId: string, answer: Answer["answer"]): Answer => ({
  type: "answer",
  widgetId,
  answer,
});
