import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import type { ProcessOwner } from "#db/connection-name.ts";
import { embeddedClientOptions } from "#inngest/embedded/client-options.ts";
import { createEmbeddedEngine } from "#inngest/embedded/create-embedded-engine.ts";
import { createServedEngine } from "./create-served-engine.ts";
import { BUFFERED_STEPS, type Engine } from "./engine.ts";
import type { Env } from "./env.ts";

const STOP_GRACE_MS = 5_000;
/** Half of the calls that the embedded engine makes at the same time. The other half is left for turns. */
const CALLBACKS_AT_ONCE = 128;

/**
 * Chooses the engine: a real server if any of Inngest's variables is set, otherwise the embedded engine. Source:
 * `configuration.md`, Variables.
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
  owner: ProcessOwner;
}): Engine {
  const { env, db, logger, isServerless, owner } = deps;
  const isReal = Boolean(
    env.INNGEST_DEV || env.INNGEST_BASE_URL || env.INNGEST_EVENT_KEY || env.INNGEST_SIGNING_KEY,
  );
  return isReal ? createServedEngine(env, logger, isServerless) : createInProcessEngine(db, logger, owner);
}

function createInProcessEngine(db: Database, logger: Logger, owner: ProcessOwner): Engine {
  const engine = createEmbeddedEngine({ db, logger, isSoleExecutor: owner.isAlone, process: owner.name });
  return {
    label: "embedded",
    clientOptions: embeddedClientOptions(engine, logger, BUFFERED_STEPS),
    start: (client, functions) => engine.start({ client, functions }),
    drain: engine.drain,
    stop: () => engine.stop({ graceMs: STOP_GRACE_MS }),
    // The functions of the embedded engine are in this process, and its queue is in the service's database.
    keepRegistered: async () => {},
    isReachable: () => true,
    readHealth: async () => ({ ok: engine.isHealthy(), detail: "embedded" }),
    callbacksAtOnce: CALLBACKS_AT_ONCE,
    intake: { plan: ({ id, name, data }) => engine.plan({ id, name, data }) },
    // A restart loses no jobs, because the queue of the embedded engine is in the service's database.
    mayLoseJobs: () => false,
    serve: () => undefined,
  };
}
