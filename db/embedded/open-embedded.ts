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

type ServerOptions = {
  /** The service's data folder; the database's files are in `<dataDir>/postgres`. */
  dataDir: string;
  logger?: PostmasterLogger;
  /**
   * Called when the server has ended and could not be restarted. Every later statement fails. The default ends this
   * process.
   */
  onLost?: (error: Error) => void;
};

export type EmbeddedOptions = ServerOptions & {
  /** Called each time a connection is lost. */
  onError?: (error: Error) => void;
  onStatement?: (() => void) | undefined;
};

/**
 * Locks the data folder, starts a Postgres server on it, and opens its database.
 *
 * @throws DatabaseLockedError when another running service owns the folder.
 * @throws DataFolderError when the folder cannot be used.
 * @throws PostgresMissingError when no suitable Postgres is installed.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<OpenDatabase> {
  const { dataDir, onError = () => {}, onStatement } = options;
  await mkdir(dataDir, { recursive: true });
  const unlock = await lockFolder(dataDir);
  let server: Awaited<ReturnType<typeof startServer>> | undefined;
  try {
    server = await startServer(options);
    const { url, close: stop } = server;
    const database = await openPostgres({ url, onError, onStatement });
    let closing: Promise<void> | undefined;
    const closeAll = async () => {
      await database.close();
      await stop();
      await unlock();
    };
    const close = () => {
      closing ??= closeAll();
      return closing;
    };
    // No `listen`: this process is the only one on the folder, so there is no other process to notify.
    return { db: database.db, driver: "embedded", name: database.name, close };
  } catch (error) {
    await server?.close();
    await unlock();
    throw error;
  }
}

/**
 * Starts a server on a data folder. The caller must hold the lock of the folder.
 *
 * @returns the URL of the server's database, and a function that stops the server.
 */
export async function startServer({ dataDir, logger = silent, onLost = endProcess }: ServerOptions) {
  const { folder, programs } = await prepareDataFolder(dataDir);
  if (await endLeftover(folder))
    logger.warn({ folder }, "ended a Postgres server that a killed service left running");
  const socket = await prepareSocket(folder);
  try {
    const postmaster = await startPostmaster({
      programs,
      folder,
      logger,
      account: databaseAccount(),
      onFailed: onLost,
      settings: [...serviceSettings(programs.major), `unix_socket_directories=${socket.directory}`],
    });
    return {
      url: socket.url,
      async close() {
        await postmaster.stop();
        await socket.close();
      },
    };
  } catch (error) {
    await socket.close();
    throw error;
  }
}

const silent: PostmasterLogger = { debug() {}, warn() {}, error() {} };

function endProcess(error: Error): never {
  throw error;
}
