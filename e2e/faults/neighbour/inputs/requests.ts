import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostileInput, Scene } from "../hostile-input.ts";

const CLIENTS = 20;
const UPLOADS = 4;
const UPLOAD_BYTES = 8 * 1_048_576;
const BODY_CHARS = 3_500_000;
const SENT_BYTES = 300_000;

/** Sends the beginning of a body, and then nothing, until the service or the signal ends the request. */
function stall({ service, apiKey }: Scene, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const upload = request(new URL("/api/session", service), {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "content-length": UPLOAD_BYTES,
      },
      signal,
    });
    upload.on("response", (response) => response.resume());
    upload.on("error", () => {});
    upload.on("close", done);
    upload.write(`{"messages":"${"x".repeat(SENT_BYTES)}`);
  });
}

/** Loads the paths again and again, as many at once as there are clients. */
async function loadInLoops({ service }: Scene, paths: string[], signal: AbortSignal): Promise<void> {
  const repeat = async () => {
    while (!signal.aborted)
      for (const path of paths)
        await fetch(new URL(path, service), { signal }).then(
          (response) => response.arrayBuffer(),
          () => sleep(50),
        );
  };
  await Promise.all(Array.from({ length: CLIENTS }, repeat)).catch(() => {});
}

/** Inputs of HTTP clients. */
export const requestInputs: HostileInput[] = [
  {
    name: "stalled-uploads",
    title: `${UPLOADS} uploads of 8 MiB that stall`,
    async attack(scene, signal) {
      const repeat = async () => {
        while (!signal.aborted) {
          await stall(scene, signal);
          await sleep(50);
        }
      };
      await Promise.all(Array.from({ length: UPLOADS }, repeat));
    },
  },
  {
    name: "docs",
    title: `${CLIENTS} anonymous clients that load /docs in a loop`,
    attack: (scene, signal) => loadInLoops(scene, ["/docs"], signal),
  },
  {
    name: "pages",
    title: `${CLIENTS} anonymous clients that load pages, files and unknown paths in a loop`,
    async attack(scene, signal) {
      const home = await fetch(new URL("/login?token=none", scene.service));
      const files = (await home.text()).match(/\/_next\/static\/[\w./-]+\.(?:js|css)/g) ?? [];
      const unknown = ["/none", "/s/ses_none", "/api/none", "/p/none/", "/v/none.js"];
      const paths = ["/", "/login?token=none", "/demo", "/api/openapi.json", ...unknown, ...files];
      await loadInLoops(scene, paths, signal);
    },
  },
  {
    name: "session-bodies",
    title: `${UPLOADS} creations of 7 MB at once`,
    async attack({ service, apiKey }, signal) {
      const text = "é".repeat(BODY_CHARS);
      const body = JSON.stringify({
        messages: [{ role: "user", parts: [{ type: "text", text }] }],
        source: "?",
      });
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      const repeat = async () => {
        while (!signal.aborted)
          await fetch(new URL("/api/session", service), { method: "POST", headers, body, signal }).then(
            (response) => response.arrayBuffer(),
            () => sleep(50),
          );
      };
      await Promise.all(Array.from({ length: UPLOADS }, repeat)).catch(() => {});
    },
  },
  {
    name: "annotations",
    title: `${CLIENTS} annotations without a key at once, as large as they may be`,
    async attack({ service, session }, signal) {
      const annotations = Array.from({ length: 1_000 }, () => ({
        type: "note",
        selector: "p",
        comment: "x",
      }));
      const body = JSON.stringify({
        event: "submit",
        output: "x",
        annotations,
        url: "https://shop.example/",
      });
      const url = new URL(`/api/sessions/${session.sessionId}/annotations/webhook`, service);
      const headers = { "content-type": "application/json" };
      const repeat = async () => {
        while (!signal.aborted)
          await fetch(url, { method: "POST", headers, body, signal }).then(
            (response) => response.arrayBuffer(),
            () => sleep(50),
          );
      };
      await Promise.all(Array.from({ length: CLIENTS }, repeat)).catch(() => {});
    },
  },
];
