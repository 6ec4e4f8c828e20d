import type { OpenDatabase } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createMemoryBus, type EventBus } from "./bus.ts";
import { createPostgresBus } from "./postgres-bus.ts";

/** The bus that goes with a database: between processes where it can have several. @throws DatabaseUnreachableError */
export async function openEventBus(
  { db, listen }: OpenDatabase,
  logger: Pick<Logger, "debug" | "warn">,
): Promise<EventBus> {
  return listen ? createPostgresBus({ db, listen, logger }) : createMemoryBus();
}
