import type { Mounted } from "#lib/api/next/find-container.ts";
import { createContainer } from "./container.ts";
import { readEnv, requireServerless } from "./env.ts";
import { createLogger } from "./log.ts";

/**
 * Builds the service inside the process that serves the pages, where there is none of its own: on Vercel, for one. The
 * functions that a real engine calls are served beside the pages. Source: `architecture.md`, Seams.
 *
 * @throws Error with a sentence, which is logged too: whoever asked is told nothing of it.
 */
export async function openServerless(): Promise<Mounted> {
  const logger = createLogger(process.env.LOG_LEVEL || "info");
  try {
    const env = readEnv(process.env);
    requireServerless(env);
    // The agent's browser is elsewhere, and reaches the service as everybody does.
    const container = await createContainer({ ...env, ownOrigin: env.baseUrl }, logger, {
      isServerless: true,
    });
    return container.mounted;
  } catch (error) {
    logger.error({ err: error }, "the service cannot be opened");
    throw error;
  }
}
