import type { BrowserInput } from "../browser-service.ts";
import { insertTestSession, openTestBrowsers, startTestSite } from "../testing.ts";

/** A page that logs what people do in it. */
const PAGE = `<!doctype html><meta charset=utf-8><style>
  body { margin: 0; font: 20px monospace; height: 4000px; }
  body > * { position: absolute; margin: 0; }
  #text { left: 20px; top: 20px; } #slider { left: 20px; top: 80px; width: 300px; margin: 0; }
  #source { left: 20px; top: 140px; width: 80px; height: 40px; background: #88f; }
  #target { left: 300px; top: 140px; width: 120px; height: 80px; background: #8f8; }
  #field { left: 20px; top: 240px; width: 300px; height: 80px; }
  #rich { left: 400px; top: 240px; width: 300px; height: 80px; }
  #pad { left: 500px; top: 20px; width: 200px; height: 100px; background: #fcc; touch-action: none; }
  #frame { left: 20px; top: 360px; width: 500px; height: 120px; border: 0; }
</style>
<p id=text>hello <b>selectable</b> words</p><input id=slider type=range min=0 max=100 value=0>
<div id=source draggable=true>drag</div><div id=target>drop</div>
<textarea id=field></textarea><div id=rich contenteditable></div><div id=pad></div>
<script>
  const log = [];
  const note = (event, text = "") => log.push(event.type + (text === "" ? "" : " " + text));
  const on = (types, read = () => "") => {
    for (const type of types.split(" ")) document.addEventListener(type, (event) => note(event, read(event)));
  };
  on("dragstart drop", ({ target, dataTransfer, type }) => {
    if (type === "dragstart") dataTransfer.setData("text/plain", "item of " + target.id);
    return target.id + (type === "drop" ? ": " + dataTransfer.getData("text/plain") : "");
  });
  document.addEventListener("dragover", (event) => event.target.id === "target" && event.preventDefault());
  document.addEventListener("drop", (event) => event.preventDefault());
  on("click dblclick auxclick contextmenu", ({ button, detail }) => button + "/" + detail);
  on("compositionstart compositionupdate compositionend", ({ data }) => data);
  on("touchstart touchend touchcancel", ({ touches }) => String(touches.length));
  on("keydown", ({ key, ctrlKey, repeat }) => (ctrlKey ? "Ctrl+" : "") + key + (repeat ? " again" : ""));
  on("keyup", ({ key }) => key);
  on("copy cut paste", ({ clipboardData }) =>
    [...clipboardData.types].sort().join() + [...clipboardData.files].map((file) => " " + file.type + " " + file.name + " " + file.size).join());
  const pad = document.getElementById("pad");
  for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"])
    pad.addEventListener(type, (event) => log.push(type + " " + event.pointerType + " " + event.buttons));
  function takeLog() { return log.splice(0); }
</script>`;

type Point = { x: number; y: number };

/** Opens a session's browser with the logging page, and returns what tests need to use it as a person does. */
export async function openInputRig() {
  const site = await startTestSite((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    const frame = `<iframe id=frame src="http://localhost:${site.port}/inner"></iframe>`;
    response.end(pathname === "/frame" ? PAGE + frame : PAGE);
  });
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
  const sessionId = await insertTestSession(harness.db);
  const { browsers } = harness;
  const send = async (...inputs: BrowserInput[]) => {
    for (const input of inputs) await browsers.input(sessionId, input);
  };
  const mouse = (
    action: "move" | "down" | "up",
    { x, y }: Point,
    button: "left" | "middle" | "right" = "left",
    clickCount = 1,
  ): BrowserInput =>
    action === "move"
      ? { type: "mouse", action, x, y, button: "none", clickCount: 0, modifiers: 0 }
      : { type: "mouse", action, x, y, button, clickCount, modifiers: 0 };
  /** Evaluates an expression in the page. */
  const read = async <Value>(expression: string): Promise<Value> =>
    (await browsers.ensure(sessionId)).page().evaluate<Value>(expression);
  return {
    sessionId,
    browsers,
    site,
    send,
    mouse,
    read,
    takeLog: () => read<string[]>("takeLog()"),
    /** Opens the page, and waits until it is shown: Chromium clicks nothing for a tap before that. */
    async open(path = "/"): Promise<void> {
      await browsers.navigate(sessionId, site.origin + path);
      await read("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
    },
    /** Moves the pressed mouse from one point to another, in steps. */
    async drag(from: Point, to: Point, steps = 8): Promise<void> {
      await send(mouse("move", from), mouse("down", from));
      for (let step = 1; step <= steps; step += 1)
        await send(
          mouse("move", {
            x: from.x + ((to.x - from.x) * step) / steps,
            y: from.y + ((to.y - from.y) * step) / steps,
          }),
        );
      await send(mouse("up", to));
    },
    click: (at: Point, button: "left" | "middle" | "right" = "left", clickCount = 1) =>
      send(mouse("move", at), mouse("down", at, button, clickCount), mouse("up", at, button, clickCount)),
    async close(): Promise<void> {
      await harness.close();
      await site.close();
    },
  };
}
