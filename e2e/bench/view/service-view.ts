import { once } from "node:events";
import { WebSocket } from "ws";
import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import type { Subject } from "../subject.ts";
import { createFrameCounter } from "./frame-counter.ts";
import type { View } from "./view.ts";

type ServiceView = View & {
  takeControl: () => Promise<void>;
  /** Asks for pictures with this many pixels for a CSS pixel. */
  setScale: (scale: number) => void;
  /** The last frame. */
  lastFrame: () => Uint8Array | undefined;
};

/** Joins the live view of a session over its WebSocket, as the session page does. */
export async function openServiceView(subject: Subject, sessionId: string): Promise<ServiceView> {
  const url = `${subject.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const socket = new WebSocket(url, { headers: subject.headers, perMessageDeflate: false });
  const counter = createFrameCounter();
  const send = (frame: LiveClientFrame) => socket.send(JSON.stringify(frame));
  const mouse = (action: "down" | "up" | "move", x = 300) =>
    send({ type: "input.mouse", action, x, y: 300, button: "left", clickCount: 1, modifiers: 0 });
  let last: Uint8Array | undefined;
  socket.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) return;
    last = data;
    counter.count();
  });
  await once(socket, "open");
  return {
    frames: counter.frames,
    nextFrame: counter.nextFrame,
    subscribe: (isOn) => send({ type: isOn ? "view.subscribe" : "view.unsubscribe" }),
    press: () => mouse("down"),
    drag: (x) => mouse("move", x),
    release: () => mouse("up"),
    setScale: (scale) => send({ type: "viewport.set", size: null, scale }),
    lastFrame: () => last,
    async takeControl() {
      send({ type: "control.take" });
      send({ type: "ping" });
      await once(socket, "message");
    },
    close: () => socket.terminate(),
  };
}
