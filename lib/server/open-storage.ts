import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { DatabaseDriver } from "#db/client.ts";
import { chooseDriver, type DatabaseOptions, openDatabase } from "#db/open-database.ts";
import { queryRows } from "#db/statement.ts";
import type { HealthCheck } from "#lib/api/handlers/services.ts";
import { openEventBus } from "#lib/events/bus/open-event-bus.ts";
import { openTopic } from "#lib/events/bus/topic.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { type Env, EnvError } from "./env.ts";
import { explainByFolder, findFolderProblem, readOrCreateSecrets } from "./prepare-data-folder.ts";
import { waitUntil } from "./wait-until.ts";

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * Opens what all other parts depend on: the database, the event log and its bus, and the key that seals (encrypts)
 * secrets.
 *
 * @throws Error with a readable message if the database or the data folder cannot be used.
 */
export async function openStorage(env: Env, logger: Logger, isServerless: boolean) {
  const secrets = isServerless ? undefined : await readOrCreateSecrets(env.DATA_DIR);
  const encryptionKey = env.ENCRYPTION_KEY ?? secrets?.encryptionKey;
  if (!encryptionKey) throw new EnvError("ENCRYPTION_KEY: is required");
  const driver = chooseDriver(env.DATABASE_URL, env.DATABASE_DRIVER);
  const database = await openDatabase(readDatabaseOptions(env, driver, logger)).catch(async (error) => {
    throw driver === "embedded" ? await explainByFolder(env.DATA_DIR, error) : error;
  });
  const { db } = database;
  // A function may be frozen after its answer, and the notices about what it has written are sent after the commit.
  const bus = await openEventBus(database, logger, isServerless ? waitUntil : undefined);
  const isEmbedded = driver === "embedded";
  /** The folder for files; undefined if no files are kept on disk. */
  const dataDir = isServerless ? undefined : env.DATA_DIR;

  async function checkDatabase(): Promise<HealthCheck> {
    try {
      const [row] = await queryRows<{ readOnly: string }>(
        db,
        sql`select current_setting('transaction_read_only') as "readOnly"`,
      );
      return row?.readOnly === "on"
        ? { ok: false, detail: `${driver} is read-only` }
        : { ok: true, detail: driver };
    } catch {
      return { ok: false, detail: `${driver} does not answer` };
    }
  }

  return {
    db,
    bus,
    isEmbedded,
    dataDir,
    encryptionKey,
    /** Previous encryption keys. They still open sealed secrets and verify signatures, except the signatures of logins. */
    previousKeys: env.ENCRYPTION_KEY_PREVIOUS,
    log: createEventLog(db, bus),
    openTopic: (name: string) => openTopic(bus, name),
    sealer: createSealer(encryptionKey, env.ENCRYPTION_KEY_PREVIOUS),
    /** The generated API key in the data folder; undefined without a data folder. */
    generatedKey: secrets?.apiKey,
    /** Identifies this process. `isAlone`: no other process uses the database. */
    owner: { name: database.name, isAlone: isEmbedded },
    describe: () => (isEmbedded ? `Postgres in ${env.DATA_DIR}` : driver === "neon" ? "Neon" : "Postgres"),
    /** Checks whether the database answers and can be written, and whether files can be written. */
    async check(): Promise<{ database: HealthCheck; folder: HealthCheck }> {
      const problem = dataDir === undefined ? undefined : await findFolderProblem(dataDir);
      const folder = problem ? { ok: false, detail: `DATA_DIR ${problem}` } : { ok: true, detail: "" };
      return { folder, database: isEmbedded && problem ? folder : await checkDatabase() };
    },
    async close() {
      await bus.close();
      await database.close();
    },
  };
}

function readDatabaseOptions(env: Env, driver: DatabaseDriver, logger: Logger): DatabaseOptions {
  // The fault point `statement` is reached before each SQL statement. Only fault tests use it.
  const onStatement = env.FAULT?.point === "statement" ? () => void faultPoint("statement") : undefined;
  const onError = (error: Error) =>
    logger.error({ err: error, component: "database" }, "a database connection was lost");
  if (driver === "embedded") {
    const onLost = (error: Error) => {
      logger.fatal(
        { err: error },
        "the embedded Postgres failed permanently; the service exits, and its next start resumes open runs",
      );
      process.exit(1);
    };
    return { driver, dataDir: env.DATA_DIR, logger, onError, onLost, onStatement };
  }
  if (!env.DATABASE_URL) throw new Error(`DATABASE_URL: is required with DATABASE_DRIVER=${driver}`);
  const server = { url: env.DATABASE_URL, onError, onStatement };
  if (driver === "pg") return { driver, ...server };
  return { driver, ...server, ...(env.NEON_WSPROXY && { wsProxy: env.NEON_WSPROXY }) };
}
