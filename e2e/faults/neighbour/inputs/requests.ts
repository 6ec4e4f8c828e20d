import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostileInput, Scene } from "../hostile-input.ts";

const DOCS_AT_ONCE = 20;
const UPLOADS = 4;
const UPLOAD_BYTES = 8 * 1_048_576;
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
    title: `${DOCS_AT_ONCE} anonymous requests for /docs at once`,
    async attack({ service }, signal) {
      const repeat = async () => {
        while (!signal.aborted) {
          await fetch(new URL("/docs", service), { signal }).then(
            (response) => response.arrayBuffer(),
            () => sleep(50),
          );
        }
      };
      await Promise.all(Array.from({ length: DOCS_AT_ONCE }, repeat)).catch(() => {});
    },
  },
];
