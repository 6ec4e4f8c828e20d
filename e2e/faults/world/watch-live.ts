import { WebSocket } from "ws";
import { API_KEY, type RunningService } from "#e2e/fixtures/service.ts";

/** Opens the live view of a session, and counts the pictures that arrive. */
export async function watchLive(service: RunningService, sessionId: string) {
  const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${API_KEY}` } });
  let frames = 0;
  socket.on("message", (_data, isBinary) => {
    if (isBinary) frames++;
  });
  socket.on("error", () => {});
  await new Promise<void>((done, fail) => socket.once("open", () => done()).once("error", fail));
  socket.send(JSON.stringify({ type: "view.subscribe" }));
  return { frames: () => frames, close: () => socket.terminate() };
}
