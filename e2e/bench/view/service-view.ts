import { once } from "node:events";
import { WebSocket } from "ws";
import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import type { Subject } from "../subject.ts";
import { createFrameCounter } from "./frame-counter.ts";
import type { View } from "./view.ts";

/** Joins the live view of a session over its WebSocket, as the session page does. */
export async function openServiceView(
  subject: Subject,
  sessionId: string,
): Promise<View & { takeControl: () => Promise<void> }> {
  const url = `${subject.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const socket = new WebSocket(url, { headers: subject.headers, perMessageDeflate: false });
  const counter = createFrameCounter();
  const send = (frame: LiveClientFrame) => socket.send(JSON.stringify(frame));
  const button = (action: "down" | "up") =>
    send({ type: "input.mouse", action, x: 300, y: 300, button: "left", clickCount: 1, modifiers: 0 });
  socket.on("message", (_, isBinary) => isBinary && counter.count());
  await once(socket, "open");
  return {
    frames: counter.frames,
    nextFrame: counter.nextFrame,
    subscribe: (isOn) => send({ type: isOn ? "view.subscribe" : "view.unsubscribe" }),
    press: () => button("down"),
    release: () => button("up"),
    async takeControl() {
      send({ type: "control.take" });
      send({ type: "ping" });
      await once(socket, "message");
    },
    close: () => socket.terminate(),
  };
}
