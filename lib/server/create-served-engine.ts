import type { Inngest, InngestFunction } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "pino";
import { createSdkLogger } from "#inngest/embedded/client-options.ts";
import { askServer } from "#inngest/served/ask-server.ts";
import { fetchWithDeadline } from "#inngest/served/fetch-with-deadline.ts";
import { createServerWatch, type ServerWatch } from "#inngest/served/server-watch.ts";
import { BUFFERED_STEPS, type Engine } from "./engine.ts";
import type { Env } from "./env.ts";
import { isLoopbackPeer } from "./loopback-peer.ts";

const PATH = "/api/inngest";
/** Deadline of one request to the server. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum age of the state that `/api/ready` reports. The service checks more often, unless it is frozen in between. */
const HEALTH_AGE_MS = 15_000;
/** How long jobs that were sent before the server lost its state are looked for. */
const LOSS_MS = 10 * 60_000;
const UNREACHABLE = "the server cannot be reached; new jobs are sent when it answers again";
const UNREGISTERED = "the functions of the service are not registered there";

/**
 * Creates the engine for a real Inngest server. The server calls the functions at `/api/inngest`.
 *
 * @param isServerless whether the functions are registered when the service is deployed, and not by this process.
 */
export function createServedEngine(env: Env, logger: Logger, isServerless: boolean): Engine {
  const isDev = Boolean(env.INNGEST_DEV && env.INNGEST_DEV !== "0");
  const label = `Inngest${isDev ? " dev server" : ""}${env.INNGEST_BASE_URL ? ` at ${env.INNGEST_BASE_URL}` : ""}`;
  /** Undefined until `serve` or `start` names the functions. */
  let watch: ServerWatch | undefined;
  const handlerOf = (client: Inngest, functions: InngestFunction.Any[]) =>
    serve({ client, functions, serveOrigin: env.baseUrl, servePath: PATH });

  /** Registers the functions through the SDK's own handler. Resolves to false if this failed. */
  async function register(client: Inngest, functions: InngestFunction.Any[]): Promise<boolean> {
    const headers = { host: new URL(env.baseUrl).host };
    const request = new Request(new URL(PATH, env.baseUrl), { method: "PUT", headers });
    const answer = await handlerOf(client, functions)(request);
    if (answer.ok) logger.info("the functions were registered with Inngest");
    else
      logger.warn(
        { status: answer.status, answer: await answer.text() },
        "the functions could not be registered with Inngest",
      );
    return answer.ok;
  }

  function watchServer(client: Inngest, functions: InngestFunction.Any[]): ServerWatch {
    watch ??= createServerWatch({
      ask: () => askServer(client),
      register: () => register(client, functions),
      logger,
      isRegistered: isServerless,
    });
    return watch;
  }

  return {
    label,
    // The Inngest client reads its keys and URLs from the environment itself, so they are not passed here.
    clientOptions: {
      isDev,
      fetch: fetchWithDeadline(REQUEST_TIMEOUT_MS),
      checkpointing: { bufferedSteps: BUFFERED_STEPS, maxRuntime: 0 },
      aiMetadata: false,
      logger: createSdkLogger(logger, "info"),
      internalLogger: createSdkLogger(logger, "info"),
    },
    /** Registers the functions. If this fails, `keepRegistered` registers them later. */
    start: (client, functions) => watchServer(client, functions).check(),
    stop: async () => {},
    keepRegistered: async (isDoubtful) => watch?.check(isDoubtful),
    isReachable: () => watch?.isReachable() ?? true,
    async readHealth() {
      await watch?.checkIfOlder(HEALTH_AGE_MS);
      if (watch?.isReachable() === false) return { ok: false, detail: `${label}; ${UNREACHABLE}` };
      const isRegistered = watch?.isRegistered() ?? isServerless;
      return { ok: isRegistered, detail: isRegistered ? label : `${label}; ${UNREGISTERED}` };
    },
    // Serverless functions cannot look for lost jobs every few seconds, so they do it only if the server has lost jobs.
    mayLoseJobs: () => !isServerless || Boolean(watch?.hasForgottenWithin(LOSS_MS)),
    serve(client, functions) {
      const handle = handlerOf(client, functions);
      const { recordCall } = watchServer(client, functions);
      return async (request, peer) => {
        // The dev server does not sign its calls, so anyone could forge a call. Accept only calls from this machine.
        if (isDev && !isLoopbackPeer(peer)) return new Response(null, { status: 404 });
        const answer = await handle(request);
        // A successful call other than a GET shows that the server knows the functions.
        if (answer.ok && request.method !== "GET") recordCall();
        return answer;
      };
    },
  };
}
