import { mkdir } from "node:fs/promises";
import type { OpenDatabase } from "../client.ts";
import { openPostgres } from "../drivers/postgres.ts";
import { databaseAccount } from "./account.ts";
import { prepareDataFolder } from "./data-folder.ts";
import { endLeftover } from "./end-leftover.ts";
import { lockFolder } from "./lock-folder.ts";
import { type PostmasterLogger, startPostmaster } from "./postmaster.ts";
import { serviceSettings } from "./settings.ts";
import { prepareSocket } from "./socket.ts";

export type EmbeddedOptions = {
  /** The service's data folder; the database's files are in `<dataDir>/postgres`. */
  dataDir: string;
  logger?: PostmasterLogger;
  /** Called for every connection that is lost. */
  onError?: (error: Error) => void;
  /** Called when the server has ended for good: every statement fails from now on. Ends the process when it is omitted. */
  onLost?: (error: Error) => void;
  onStatement?: (() => void) | undefined;
};

/**
 * Starts a Postgres of the service's own and opens it, as the one owner of the data folder.
 *
 * @throws DatabaseLockedError when another live service owns the folder.
 * @throws DataFolderError, PostgresMissingError with a sentence when the folder or the programs cannot be used.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<OpenDatabase> {
  const { dataDir, logger = silent, onError = () => {}, onLost = endProcess, onStatement } = options;
  await mkdir(dataDir, { recursive: true });
  const closers: (() => Promise<unknown>)[] = [await lockFolder(dataDir)];
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };
  try {
    const { folder, programs } = await prepareDataFolder(dataDir);
    if (await endLeftover(folder)) logger.warn({ folder }, "ended the Postgres of a service that was killed");
    const socket = await prepareSocket(folder);
    closers.push(socket.close);
    const postmaster = await startPostmaster({
      ...{ programs, folder, logger, account: databaseAccount(), onFailed: onLost },
      settings: [...serviceSettings(programs.major), `unix_socket_directories=${socket.directory}`],
    });
    closers.push(() => postmaster.stop());
    const database = await openPostgres({ driver: "pg", url: socket.url, onError, onStatement });
    closers.push(database.close);
    // One process owns the folder, so that nobody else has notifications to listen for.
    return { db: database.db, driver: "embedded", name: database.name, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const silent: PostmasterLogger = { debug() {}, warn() {}, error() {} };

function endProcess(error: Error): never {
  throw error;
}
