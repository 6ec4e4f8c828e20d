import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { HostileInput } from "../hostile-input.ts";
import { call, DONE, servePage } from "./parts.ts";

const FRAMES = 200;
const ERROR_BYTES = 1_048_576;
const ELEMENTS = 60_000;
const PINGS_AT_ONCE = 200;
const PAUSE_MS = 50;

/** The agent looks at the page while the page works. */
const look = () => [
  call("browser_execute", { script: "await page.waitForTimeout(8000); return 'looked';", timeoutMs: 20_000 }),
  DONE,
];

/** Inputs of pages in the agent's browser, and of people who watch it. */
export const pageInputs: HostileInput[] = [
  {
    name: "page-errors",
    title: "a page that floods the console with errors of 1 MB",
    page: servePage(
      `<script>const text = "e".repeat(${ERROR_BYTES}); setInterval(() => console.error(text), 20);</script>`,
    ),
    steps: look,
  },
  {
    name: "page-frames",
    title: `a page that opens ${FRAMES} frames`,
    page: servePage(
      `<script>for (let n = 0; n < ${FRAMES}; n++) { const frame = document.createElement("iframe"); frame.srcdoc = "<p>" + n; document.body.append(frame); }</script>`,
    ),
    steps: look,
  },
  {
    name: "page-fetches",
    title: "a page that requests itself without end",
    page: servePage(
      `<script>for (let n = 0; n < 6; n++) (async () => { for (;;) await fetch("/missing?" + Math.random()).catch(() => {}); })();</script>`,
    ),
    steps: look,
  },
  {
    name: "page-popups",
    title: "a page that opens windows and changes its address all the time",
    page: servePage(
      `<script>setInterval(() => { window.open("about:blank"); history.pushState(null, "", "#" + Math.random()); document.title = Math.random(); }, 5);</script>`,
    ),
    steps: look,
  },
  {
    name: "page-large",
    title: `a page with ${ELEMENTS} elements that is looked at`,
    page: servePage(
      `<script>let html = ""; for (let n = 0; n < ${ELEMENTS}; n++) html += "<button>" + n + "</button>"; document.body.innerHTML = html;</script>`,
    ),
    steps: () => [call("dom_query", {}), call("screenshot", {}), DONE],
  },
  {
    name: "viewer-pings",
    title: "a viewer that floods its socket with pings",
    page: servePage("<p>quiet</p>"),
    async attack({ service, session }, signal) {
      const url = `${service.replace("http", "ws")}/api/sessions/${session.sessionId}/live`;
      const key = new URL(session.shareUrl, service).searchParams.get("key");
      while (!signal.aborted) {
        const socket = new WebSocket(url, { headers: { cookie: `share=${key}`, origin: service } });
        socket.on("error", () => {});
        socket.on("open", async () => {
          while (!signal.aborted && socket.readyState === WebSocket.OPEN) {
            for (let ping = 0; ping < PINGS_AT_ONCE; ping++) {
              socket.ping();
              socket.send('{"type":"ping"}');
            }
            await sleep(PAUSE_MS);
          }
          socket.terminate();
        });
        await new Promise((done) => socket.once("close", done));
        await sleep(PAUSE_MS);
      }
    },
  },
];
