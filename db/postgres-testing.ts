import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { databaseAccount } from "./embedded/account.ts";
import { prepareDataFolder } from "./embedded/data-folder.ts";
import { type PostmasterLogger, type StopMode, startPostmaster } from "./embedded/postmaster.ts";
import { serviceSettings } from "./embedded/settings.ts";
import { prepareSocket } from "./embedded/socket.ts";

export type { StopMode };

/** Name of a database that contains all tables and no rows. Test databases are copies of it. */
const TEMPLATE_DATABASE = "service_template";

/** A Postgres server for tests, on loopback. */
export type TestPostgres = {
  /** URL of the server's first database, with the credentials of a superuser. */
  url: string;
  /** Stops the server, calls `whileDown`, and starts the server again on the same port. */
  restart: (mode?: StopMode, whileDown?: () => Promise<void>) => Promise<void>;
  /** Stops the server and removes its files. */
  stop: () => Promise<void>;
};

/**
 * Starts a Postgres server with a new folder, a free port and a random password. The server stops when this process
 * ends, even if the process is killed.
 *
 * @param isDurable whether commits wait for the disk, as in production. Some measurements need durable commits.
 * @throws Error with the server's output when the server does not start.
 */
export async function startTestPostgres({ isDurable = false } = {}): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), "service-postgres-"));
  try {
    // The guard of the server, which runs as the user of the server, must be able to empty the folder of the database.
    await chmod(dataDir, 0o711);
    const { folder, programs } = await prepareDataFolder(dataDir);
    const password = randomBytes(12).toString("hex");
    const port = await findFreePort();
    const socket = await prepareSocket(folder);
    // The password is sent in plain text, because Neon's driver takes 60 ms for a SCRAM exchange.
    await writeFile(join(folder, "pg_hba.conf"), "local all all trust\nhost all all 127.0.0.1/32 password\n");
    const settings = [
      ...serviceSettings(programs.major),
      `unix_socket_directories=${socket.directory}`,
      "listen_addresses=127.0.0.1",
      `port=${port}`,
      "max_connections=300",
      "shared_buffers=64MB",
      // It would visit each of the many databases once a minute, and they are too small to need it.
      "autovacuum=off",
      ...(isDurable ? [] : ["fsync=off", "full_page_writes=off"]),
    ];
    const start = () =>
      startPostmaster({
        programs,
        folder,
        settings,
        account: databaseAccount(),
        isTemporary: true,
        logger: silent,
        onFailed() {},
      });
    let postmaster = await start();
    await prepareServer(`${socket.url.replace(":5432", `:${port}`)}`, password);
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      async restart(mode = "fast", whileDown = async () => {}) {
        await postmaster.stop(mode);
        await whileDown();
        postmaster = await start();
      },
      async stop() {
        await postmaster.stop("immediate");
        await socket.close();
        await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

const silent: PostmasterLogger = { debug() {}, warn() {}, error() {} };

/** Sets the password, and copies the first database to {@link TEMPLATE_DATABASE}. */
async function prepareServer(url: string, password: string): Promise<void> {
  const other = new URL(url);
  // A database cannot be copied while a client is connected to it, so this client connects to another database.
  other.pathname = "/template1";
  const client = new Client({ connectionString: other.href });
  await client.connect();
  try {
    await client.query(`alter role postgres password '${password}'`);
    await client.query(`create database ${TEMPLATE_DATABASE} template postgres`);
  } finally {
    await client.end();
  }
}

/**
 * Creates a database on a server, if it does not exist.
 *
 * @param template the database to copy; `template1` is empty.
 * @returns the URL of the database.
 */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template: typeof TEMPLATE_DATABASE | "template1" = TEMPLATE_DATABASE,
): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    // A copy of the files takes half as long as the default, which writes all pages to the log.
    const statement = `create database "${name}" template ${template} strategy file_copy`;
    await client.query(statement).catch((error) => {
      if (error.code !== "42P04") throw error;
    });
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
