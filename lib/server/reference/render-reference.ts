import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Reference } from "./compose-reference.ts";

/** The only message of the process that renders the page. */
export type RenderedReference = { reference: Reference; error?: never } | { error: string };

const DEADLINE_MS = 120_000;
const HEAP_MB = 512;
const FOLDER = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Renders the API reference in a process of its own with a low priority. Rendering takes a second of processor time and
 * 100 MB, and in the service's own process it would delay everybody's turns.
 *
 * @throws Error if the page cannot be rendered.
 */
export async function renderReference(baseUrl: string): Promise<Reference> {
  const child = fork(new URL("./reference-worker.ts", import.meta.url), [baseUrl], {
    cwd: FOLDER,
    // The process renders public text, so it gets no settings and secrets of the service.
    env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    execArgv: ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${HEAP_MB}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    timeout: DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  try {
    const result = await new Promise<RenderedReference>((resolve) => {
      // The process is our own program, which sends only this message.
      child.once("message", (message) => resolve(message as RenderedReference));
      child.once("error", (error) => resolve({ error: error.message }));
      child.once("exit", (code, signal) => resolve({ error: `its process ended with ${code ?? signal}` }));
    });
    if (result.error !== undefined)
      throw new Error(`the API reference could not be rendered: ${result.error}`);
    return result.reference;
  } finally {
    child.kill("SIGKILL");
  }
}
