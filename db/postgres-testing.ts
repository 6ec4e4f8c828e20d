import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPostgres, folderForAll, type PostgresPrograms } from "./find-postgres-testing.ts";

const run = promisify(execFile);
const START_DEADLINE_MS = 30_000;

/** Postgres refuses to run as root; this user and group (`nobody`) exist nearly everywhere. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };
const unprivileged = () => (process.getuid?.() === 0 ? UNPRIVILEGED : {});

/** How a server ends: `fast` tells its clients, `immediate` is a crash, after which it recovers. */
export type StopMode = "fast" | "immediate";

/** A real Postgres of the tests' own, on loopback. */
export type TestPostgres = {
  /** Of its first database, for a user who may do everything. */
  url: string;
  /** Ends the server, and starts it again on the same port; `whileDown` is called in between. */
  restart: (mode?: StopMode, whileDown?: () => Promise<void>) => Promise<void>;
  /** Ends the server, and removes its files. */
  stop: () => Promise<void>;
};

/**
 * Starts a Postgres with a fresh folder, a free port and a random password. It ends with this process, however that ends.
 *
 * @param isDurable whether commits wait for the disk, as in production; measurements want that.
 * @throws Error with the server's words when it does not start.
 */
export async function startTestPostgres({ isDurable = false } = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(folderForAll(), "service-postgres-"));
  const password = randomBytes(12).toString("hex");
  const port = await findFreePort();
  try {
    const programs = await makeReachable(await findPostgres(), folder);
    await initialize(programs, folder, password);
    let server = await startServer(programs, folder, port, isDurable);
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      async restart(mode = "fast", whileDown = async () => {}) {
        await endServer(server, mode);
        await whileDown();
        server = await startServer(programs, folder, port, isDurable);
      },
      async stop() {
        await endServer(server, "immediate");
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Root's packages may lie where another user cannot read them. */
async function makeReachable(programs: PostgresPrograms, folder: string): Promise<PostgresPrograms> {
  if (programs.source === "system" || process.getuid?.() !== 0) return programs;
  const copy = join(folder, "programs");
  await cp(join(programs.bin, ".."), copy, { recursive: true, verbatimSymlinks: true });
  return { ...programs, bin: join(copy, "bin") };
}

/** The password travels as it is: on loopback that does no harm, and Neon's driver takes 60 ms over a SCRAM exchange. */
async function initialize(programs: PostgresPrograms, folder: string, password: string): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password);
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...unprivileged() };
  for (const path of [folder, passwordFile]) await chown(path, uid, gid);
  await run(
    join(programs.bin, "initdb"),
    [
      ...["--pgdata", join(folder, "data"), "--username", "postgres", "--pwfile", passwordFile],
      ...["--auth", "password", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    ],
    { cwd: folder, env: environment(), ...unprivileged() },
  );
  await rm(passwordFile);
}

const environment = (): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC", NODE_ENV: "test" },
});

/** Waits for a word, or for the end of whoever would say it: then the server goes too, and nothing is left behind. */
const KEEPER = `trap "" INT TERM HUP; folder=$1; shift; "$@" & server=$!
read -r signal; kill -s "\${signal:-QUIT}" $server; wait $server
[ -n "$signal" ] || rm -rf "$folder"`;

async function startServer(
  programs: PostgresPrograms,
  folder: string,
  port: number,
  isDurable: boolean,
): Promise<ChildProcess> {
  const settings = [
    ...["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "max_connections=200"],
    ...(isDurable ? [] : ["fsync=off", "full_page_writes=off"]),
    "shared_buffers=64MB",
  ].flatMap((setting) => ["-c", setting]);
  const command = [join(programs.bin, "postgres"), "-D", join(folder, "data"), ...settings];
  const keeper = spawn("/bin/sh", ["-c", KEEPER, "sh", folder, ...command], {
    ...{ cwd: folder, env: environment(), ...unprivileged() },
    stdio: ["pipe", "ignore", "pipe"],
  });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error(`Postgres did not start:\n${output}`));
    const timer = setTimeout(fail, START_DEADLINE_MS);
    keeper.once("error", reject);
    keeper.once("exit", fail);
    keeper.stderr?.on("data", (chunk: Buffer) => {
      if (output.length > 100_000) return;
      output += chunk.toString();
      // Clients that come too early are refused with a FATAL of their own.
      if (/\bFATAL:(?!.*the database system is)/.test(output)) fail();
      if (!output.includes("ready to accept connections")) return;
      clearTimeout(timer);
      resolve();
    });
  }).catch(async (error) => {
    await endServer(keeper, "immediate");
    throw error;
  });
  // Whoever forgets to stop it can end all the same.
  keeper.unref();
  for (const pipe of [keeper.stdin, keeper.stderr]) if (pipe instanceof Socket) pipe.unref();
  return keeper;
}

async function endServer(keeper: ChildProcess, mode: StopMode): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  const gone = once(keeper, "exit");
  keeper.ref();
  keeper.stdin?.end(mode === "fast" ? "INT\n" : "QUIT\n");
  await gone;
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
