import type { OpenDatabase } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { EventBus } from "./bus.ts";
import { createMemoryBus } from "./local-bus.ts";
import { createPostgresBus } from "./postgres-bus.ts";

/**
 * Opens the bus for a database. If several processes can use the database, the bus connects these processes.
 * @param onSending see `PostgresBusDeps`.
 * @throws DatabaseUnreachableError
 */
export async function openEventBus(
  { db, listen }: OpenDatabase,
  logger: Pick<Logger, "debug" | "warn">,
  onSending?: (sending: Promise<void>) => void,
): Promise<EventBus> {
  return listen ? createPostgresBus({ db, listen, logger, onSending }) : createMemoryBus();
}
