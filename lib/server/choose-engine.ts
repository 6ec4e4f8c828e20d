import type { ClientOptions, Inngest, InngestFunction } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import { createSdkLogger, embeddedClientOptions } from "#inngest/embedded/client-options.ts";
import { createEmbeddedEngine } from "#inngest/embedded/create-embedded-engine.ts";
import type { BrowserOwner } from "#lib/browser/session/browser-store.ts";
import type { JobIntake } from "#lib/session/jobs/job-sender.ts";
import type { Env } from "./env.ts";
import { isLoopbackPeer } from "./loopback-peer.ts";

type EngineHandler = (request: Request, peer: string | undefined) => Promise<Response>;

/** The durable engine behind the Inngest client: the embedded engine, or a real Inngest server. */
type Engine = {
  label: string;
  clientOptions: Partial<ClientOptions>;
  start: (client: Inngest, functions: InngestFunction.Any[]) => Promise<void>;
  /** Starts no new steps and waits up to `graceMs` for steps in progress. Not for a real server, which calls this process. */
  drain?: (options: { graceMs: number }) => Promise<void>;
  stop: () => Promise<void>;
  isHealthy: () => boolean;
  /** Lets the engine accept jobs in the same database statement that stores them; undefined if the engine cannot do this. */
  intake?: JobIntake;
  /** Whether the engine may lose its queue, as a server without durable storage does at a restart. */
  mayLoseJobs: boolean;
  /**
   * Creates the handler of `/api/inngest`; undefined if the engine needs no endpoint. Source: `security.md`, Engine
   * endpoint.
   */
  serve: (client: Inngest, functions: InngestFunction.Any[]) => EngineHandler | undefined;
};

const STOP_GRACE_MS = 5_000;
/**
 * With two buffered steps, a function run that has one step reports the step and the end of the run in one request. If
 * a crash repeats the step, the step reads in the service's database that its work is done, and does not repeat the
 * work.
 */
const BUFFERED_STEPS = 2;

/**
 * Chooses the engine: a real server if any of Inngest's variables is set, otherwise the embedded engine. Source:
 * `wire.md`, Environment.
 *
 * @param deps.isServerless whether the service runs on a serverless platform. The Inngest functions are then registered
 * with the Inngest server when the service is deployed, so this process does not register them.
 * @param deps.owner identifies this process among those that use the database. `isAlone`: there are no others.
 */
export function chooseEngine(deps: {
  env: Env;
  db: Database;
  logger: Logger;
  isServerless: boolean;
  owner: BrowserOwner;
}): Engine {
  const { env, db, logger, isServerless, owner } = deps;
  const isReal = Boolean(
    env.INNGEST_DEV || env.INNGEST_BASE_URL || env.INNGEST_EVENT_KEY || env.INNGEST_SIGNING_KEY,
  );
  return isReal ? createServedEngine(env, logger, isServerless) : createInProcessEngine(db, logger, owner);
}

function createInProcessEngine(db: Database, logger: Logger, owner: BrowserOwner): Engine {
  const engine = createEmbeddedEngine({ db, logger, isSoleExecutor: owner.isAlone, process: owner.name });
  return {
    label: "embedded",
    clientOptions: embeddedClientOptions(engine, logger, BUFFERED_STEPS),
    start: (client, functions) => engine.start({ client, functions }),
    drain: engine.drain,
    stop: () => engine.stop({ graceMs: STOP_GRACE_MS }),
    isHealthy: engine.isHealthy,
    intake: { plan: ({ id, name, data }) => engine.plan({ id, name, data }) },
    // A restart loses no jobs, because the queue of the embedded engine is in the service's database.
    mayLoseJobs: false,
    serve: () => undefined,
  };
}

const PATH = "/api/inngest";

function createServedEngine(env: Env, logger: Logger, isServerless: boolean): Engine {
  const isDev = Boolean(env.INNGEST_DEV && env.INNGEST_DEV !== "0");
  let isRegistered = isServerless;
  const handlerOf = (client: Inngest, functions: InngestFunction.Any[]) =>
    serve({ client, functions, serveOrigin: env.baseUrl, servePath: PATH });
  return {
    label: `Inngest${isDev ? " dev server" : ""}${env.INNGEST_BASE_URL ? ` at ${env.INNGEST_BASE_URL}` : ""}`,
    // The Inngest client reads its keys and URLs from the environment itself, so they are not passed here.
    clientOptions: {
      isDev,
      checkpointing: { bufferedSteps: BUFFERED_STEPS, maxRuntime: 0 },
      aiMetadata: false,
      logger: createSdkLogger(logger, "info"),
      internalLogger: createSdkLogger(logger, "info"),
    },
    /**
     * Registers the functions with the server. If this fails, the functions are registered when the server asks for
     * them, or at the next start of the service.
     */
    async start(client, functions) {
      const host = new URL(env.baseUrl).host;
      const request = new Request(new URL(PATH, env.baseUrl), { method: "PUT", headers: { host } });
      const answer = await handlerOf(client, functions)(request);
      isRegistered = answer.ok;
      if (!answer.ok)
        logger.warn(
          { status: answer.status, answer: await answer.text() },
          "the functions could not be registered with Inngest",
        );
    },
    stop: async () => {},
    isHealthy: () => isRegistered,
    // Serverless functions must use a server that does not lose jobs, because they cannot run a timer that looks for
    // lost jobs.
    mayLoseJobs: !isServerless,
    serve(client, functions) {
      const handle = handlerOf(client, functions);
      return async (request, peer) => {
        // The dev server does not sign its calls, so anyone could forge a call. Accept only calls from this machine.
        if (isDev && !isLoopbackPeer(peer)) return new Response(null, { status: 404 });
        const answer = await handle(request);
        // A successful call other than a GET shows that the server knows the functions.
        isRegistered ||= answer.ok && request.method !== "GET";
        return answer;
      };
    },
  };
}
