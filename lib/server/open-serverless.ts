import type { Mounted } from "#lib/api/next/find-container.ts";
import { createContainer } from "./container.ts";
import { readEnv, requireServerless } from "./env.ts";
import { createLogger } from "./log.ts";

/**
 * Builds the service inside the process that serves the pages, for platforms such as Vercel where the service has no
 * process of its own. The same process serves the functions that the engine calls. Source: `architecture.md`, Seams.
 *
 * @throws Error with a readable message. The error is also logged, because the client of the request does not see it.
 */
export async function openServerless(): Promise<Mounted> {
  const logger = createLogger(process.env.LOG_LEVEL || "info");
  try {
    const env = readEnv(process.env);
    requireServerless(env);
    // The agent's browser runs elsewhere, and reaches the service at its public URL.
    const container = await createContainer({ ...env, ownOrigin: env.baseUrl }, logger, {
      isServerless: true,
    });
    const { mounted, sweepWithRequest } = container;
    return {
      ...mounted,
      serve(...request) {
        sweepWithRequest();
        return mounted.serve(...request);
      },
    };
  } catch (error) {
    logger.error({ err: error }, "the service could not be opened");
    throw error;
  }
}
