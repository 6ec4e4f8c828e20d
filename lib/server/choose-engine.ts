import type { ClientOptions, Inngest, InngestFunction } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import { createSdkLogger, embeddedClientOptions } from "#inngest/embedded/client-options.ts";
import { createEmbeddedEngine } from "#inngest/embedded/create-embedded-engine.ts";
import type { JobIntake } from "#lib/session/jobs/job-sender.ts";
import type { Env } from "./env.ts";
import { isLoopbackPeer } from "./loopback-peer.ts";

type EngineHandler = (request: Request, peer: string | undefined) => Promise<Response>;

/** The durable engine behind the Inngest client: the embedded one, or a real server. */
type Engine = {
  label: string;
  clientOptions: Partial<ClientOptions>;
  start: (client: Inngest, functions: InngestFunction.Any[]) => Promise<void>;
  stop: () => Promise<void>;
  isHealthy: () => boolean;
  /** How it takes jobs in the statement that stores them, if it can. */
  intake?: JobIntake;
  /** Whether it may lose its queue, as a server without durable storage does when it restarts. */
  mayLoseJobs: boolean;
  /** What `/api/inngest` answers; undefined where it is not served at all. Source: `security.md`, Engine endpoint. */
  serve: (client: Inngest, functions: InngestFunction.Any[]) => EngineHandler | undefined;
};

const STOP_GRACE_MS = 5_000;
/**
 * A function run of one step tells of it together with its end. Every step of ours finds in our own rows what it has
 * done, so one that a crash repeats does nothing again.
 */
const BUFFERED_STEPS = 2;

/**
 * Any of Inngest's own variables selects the real server. Source: `wire.md`, Environment.
 *
 * @param deps.isServerless whether functions are registered with every deployment, and not by this process.
 * @param deps.isSoleExecutor whether no other process uses the database.
 */
export function chooseEngine(deps: {
  env: Env;
  db: Database;
  logger: Logger;
  isServerless: boolean;
  isSoleExecutor: boolean;
}): Engine {
  const { env, db, logger, isServerless, isSoleExecutor } = deps;
  const isReal = Boolean(
    env.INNGEST_DEV || env.INNGEST_BASE_URL || env.INNGEST_EVENT_KEY || env.INNGEST_SIGNING_KEY,
  );
  return isReal
    ? createServedEngine(env, logger, isServerless)
    : createInProcessEngine(db, logger, isSoleExecutor);
}

function createInProcessEngine(db: Database, logger: Logger, isSoleExecutor: boolean): Engine {
  const engine = createEmbeddedEngine({ db, logger, isSoleExecutor });
  return {
    label: "embedded",
    clientOptions: embeddedClientOptions(engine, logger, BUFFERED_STEPS),
    start: (client, functions) => engine.start({ client, functions }),
    stop: () => engine.stop({ graceMs: STOP_GRACE_MS }),
    isHealthy: engine.isHealthy,
    intake: { plan: ({ id, name, data }) => engine.plan({ id, name, data }) },
    // Its queue is in our own database.
    mayLoseJobs: false,
    serve: () => undefined,
  };
}

const PATH = "/api/inngest";

function createServedEngine(env: Env, logger: Logger, isKnown: boolean): Engine {
  const isDev = Boolean(env.INNGEST_DEV && env.INNGEST_DEV !== "0");
  let isRegistered = isKnown;
  const handlerOf = (client: Inngest, functions: InngestFunction.Any[]) =>
    serve({ client, functions, serveOrigin: env.baseUrl, servePath: PATH });
  return {
    label: `Inngest${isDev ? " dev server" : ""}${env.INNGEST_BASE_URL ? ` at ${env.INNGEST_BASE_URL}` : ""}`,
    // The client reads Inngest's variables itself.
    clientOptions: {
      isDev,
      checkpointing: { bufferedSteps: BUFFERED_STEPS, maxRuntime: 0 },
      aiMetadata: false,
      logger: createSdkLogger(logger, "info"),
      internalLogger: createSdkLogger(logger, "info"),
    },
    /** Tells the server where the functions are; one that is away now asks by itself, or is told by the next start. */
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
    // A platform's functions have no timer that looks for lost jobs, and use a durable server.
    mayLoseJobs: !isKnown,
    serve(client, functions) {
      const handle = handlerOf(client, functions);
      return async (request, peer) => {
        // Without signatures anybody could forge a call, so only this machine is answered.
        if (isDev && !isLoopbackPeer(peer)) return new Response(null, { status: 404 });
        const answer = await handle(request);
        // A server that registers or calls the functions by itself knows them from then on.
        isRegistered ||= answer.ok && request.method !== "GET";
        return answer;
      };
    },
  };
}
