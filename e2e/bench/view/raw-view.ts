import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { chromiumFlags } from "#lib/browser/process/chromium-flags.ts";
import { createFrameCounter } from "./frame-counter.ts";
import type { View } from "./view.ts";

const SIZE = { width: 1280, height: 800 };

/**
 * Starts a browser with one page. Reads its screencast directly over DevTools, and acknowledges every frame at once.
 */
export async function openRawView(
  folder: string,
  executable: string | undefined,
): Promise<View & { open: (url: string) => Promise<void> }> {
  if (executable === undefined) throw new Error("no Chromium was found: npm run setup");
  const flags = chromiumFlags({ profileDir: join(folder, "raw"), proxyServer: "direct://", sandbox: false });
  // The service talks to its browsers over pipes. This client uses a WebSocket instead.
  const overPort = flags.map((flag) =>
    flag === "--remote-debugging-pipe" ? "--remote-debugging-port=0" : flag,
  );
  const child = spawn(executable, overPort, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const close = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  try {
    const host = await readHost(createInterface(child.stderr));
    const response = await fetch(`http://${host}/json/new?about:blank`, { method: "PUT" });
    const target = (await response.json()) as { webSocketDebuggerUrl: string };
    const cdp = await connect(target.webSocketDebuggerUrl);
    const counter = createFrameCounter();
    cdp.on("Page.screencastFrame", ({ sessionId, data }) => {
      void cdp.send("Page.screencastFrameAck", { sessionId });
      // Decodes the picture, as every viewer must.
      Buffer.from(String(data), "base64");
      counter.count();
    });
    await cdp.send("Page.enable");
    await cdp.send("Emulation.setDeviceMetricsOverride", { ...SIZE, deviceScaleFactor: 1, mobile: false });
    const button = (type: string) =>
      void cdp.send("Input.dispatchMouseEvent", { type, x: 300, y: 300, button: "left", clickCount: 1 });
    return {
      frames: counter.frames,
      nextFrame: counter.nextFrame,
      close,
      async open(url) {
        const loaded = new Promise((done) => cdp.on("Page.loadEventFired", done));
        await cdp.send("Page.navigate", { url });
        await loaded;
      },
      subscribe: (isOn) =>
        void cdp.send(
          isOn ? "Page.startScreencast" : "Page.stopScreencast",
          isOn
            ? { format: "jpeg", quality: 70, maxWidth: SIZE.width, maxHeight: SIZE.height, everyNthFrame: 1 }
            : {},
        ),
      press: () => button("mousePressed"),
      drag: (x) =>
        void cdp.send("Input.dispatchMouseEvent", {
          type: "mouseMoved",
          x,
          y: 300,
          button: "left",
          buttons: 1,
        }),
      release: () => button("mouseReleased"),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readHost(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const host = /DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1];
    if (host !== undefined) return host;
  }
  throw new Error("the browser did not start");
}

/** Connects a minimal client for DevTools. */
async function connect(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 2 ** 28 });
  await once(socket, "open");
  const answers = new Map<number, (result: unknown) => void>();
  const listeners = new Map<string, (params: Record<string, unknown>) => void>();
  let last = 0;
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString());
    if (message.id === undefined) listeners.get(message.method)?.(message.params);
    else answers.get(message.id)?.(message);
    answers.delete(message.id);
  });
  return {
    /** Sets the listener of an event. Replaces an earlier listener of the same event. */
    on: (event: string, listener: (params: Record<string, unknown>) => void) =>
      void listeners.set(event, listener),
    send: (method: string, params: object = {}) =>
      new Promise((resolve) => {
        answers.set(++last, resolve);
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
  };
}
