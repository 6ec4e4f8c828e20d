import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./account.ts";
import type { PostgresPrograms } from "./programs.ts";

/** `fast` ends sessions and writes a checkpoint. `immediate` stops like a crash, so the next start replays the log. */
export type StopMode = "fast" | "immediate";

export type PostmasterLogger = {
  debug: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
};

type PostmasterOptions = {
  programs: PostgresPrograms;
  /** The data folder. */
  folder: string;
  account: Account | undefined;
  /** Settings for the command line, `name=value`. */
  settings: string[];
  logger: PostmasterLogger;
  /** Called once when the server has ended unexpectedly and could not be restarted. */
  onFailed: (error: Error) => void;
  /** Whether the guard process removes the folder if this process dies. Default: false. */
  isTemporary?: boolean;
};

/** A running Postgres server that is restarted when it ends unexpectedly. */
type Postmaster = {
  /** Process id of the server; it changes with every restart. */
  readonly pid: number | undefined;
  stop: (mode?: StopMode) => Promise<void>;
};

/**
 * `starting → running → restarting → running …`. `stop` changes every state to `stopped`. A server that ends too often
 * changes to `failed`.
 */
type State = "starting" | "running" | "restarting" | "stopped" | "failed";

const READY_DEADLINE_MS = 60_000;
const RETRY_MS = 100;
const STOP_GRACE_MS = 8_000;
/**
 * The server is not restarted any more after it has ended this many times within {@link ENDS_WINDOW_MS}. A failed
 * restart counts as an end too.
 */
const ENDS_MAX = 5;
const ENDS_WINDOW_MS = 60_000;

/**
 * Shell command that starts the server and a guard process. `$$` is the process id of the server, because `exec`
 * replaces the shell. The guard reads from a pipe whose other end only the service holds: when the service dies, the
 * pipe closes and the guard stops the server. The guard is not a child of the server, because Postgres restarts all its
 * processes when an unknown child exits.
 */
const GUARDED_START = '((read -r _ <&3 || kill -INT $$) &); exec 3<&-; exec "$@"';
const TEMPORARY_START =
  '((read -r _ <&3 || { kill -QUIT $$; while kill -0 $$; do sleep 0.1; done; rm -rf "$0"; }) 2>/dev/null &); exec 3<&-; exec "$@"';

/**
 * Starts Postgres on a data folder and waits until it accepts connections.
 *
 * @throws Error with the server's output when the server fails to start, or does not accept connections within a
 * minute.
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { logger } = options;
  const ends: number[] = [];
  let state: State = "starting";
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const deadline = performance.now() + READY_DEADLINE_MS;
    for (;;) {
      const attempt = await tryStart(options, deadline, (started) => {
        server = started;
      });
      if (attempt === undefined) return;
      // If processes of the previous server still use the folder, the loop tries again, because these processes are
      // about to exit.
      if (!isStillOccupied(attempt) || performance.now() > deadline || state === "stopped") throw attempt;
      await sleep(RETRY_MS);
    }
  }

  function watch(started: ChildProcess): void {
    started.once("exit", (code, signal) => {
      if (state !== "running" || server !== started) return;
      logger.error({ code, signal }, "the embedded Postgres ended unexpectedly; restarting it");
      void restart();
    });
  }

  async function restart(): Promise<void> {
    state = "restarting";
    let reason = "";
    // `stop` may be called while the server is starting. It changes the state, which ends this loop.
    while (state === "restarting") {
      const now = performance.now();
      ends.push(now);
      if (ends.filter((at) => now - at < ENDS_WINDOW_MS).length >= ENDS_MAX) {
        state = "failed";
        options.onFailed(new Error(`Postgres ended ${ENDS_MAX} times within a minute${reason}`));
        return;
      }
      try {
        await start();
      } catch (error) {
        reason = `: ${(error as Error).message}`;
        continue;
      }
      if (state !== "restarting" || !server) return;
      if (server.exitCode !== null || server.signalCode !== null) continue;
      state = "running";
      logger.warn({ pid: server.pid }, "the embedded Postgres is running again");
      watch(server);
    }
  }

  await start();
  state = "running";
  if (server) watch(server);

  return {
    get pid() {
      return server?.pid;
    },
    async stop(mode = "fast") {
      state = "stopped";
      if (server) await endServer(server, mode);
    },
  };
}

/** Starts the server once. @returns why the server did not start; undefined when the server accepts connections. */
async function tryStart(
  options: PostmasterOptions,
  deadline: number,
  onSpawned: (server: ChildProcess) => void,
): Promise<Error | undefined> {
  const server = spawnServer(options);
  onSpawned(server);
  const output: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`Postgres ${what}${describeOutput(output)}`));
      timer = setTimeout(() => fail("did not start in time"), deadline - performance.now());
      server.once("error", (error) => fail(`could not be executed (${error.message})`));
      server.once("exit", () => fail("did not start"));
      if (server.stderr)
        createInterface({ input: server.stderr }).on("line", (line) => {
          if (output.length < 200) output.push(line);
          report(options.logger, line);
          if (line.includes("database system is ready to accept connections")) resolve();
        });
    });
    return undefined;
  } catch (error) {
    await endServer(server, "immediate");
    return error as Error;
  } finally {
    clearTimeout(timer);
  }
}

function spawnServer({
  programs,
  folder,
  account,
  settings,
  isTemporary = false,
}: PostmasterOptions): ChildProcess {
  const args = settings.flatMap((setting) => ["-c", setting]);
  const server = withFolderHandle(folder, (handle, path) =>
    spawn(
      "/bin/sh",
      [
        "-c",
        isTemporary ? TEMPORARY_START : GUARDED_START,
        folder,
        `${programs.bin}/postgres`,
        "-D",
        path,
        ...args,
      ],
      {
        cwd: "/",
        env: serverEnvironment(),
        ...account,
        // Puts the server into its own process group, so that Ctrl-C in a terminal ends only the service.
        detached: true,
        stdio: ["ignore", "ignore", "pipe", "pipe", handle],
      },
    ),
  );
  // When the server has exited, its guard has nothing left to do.
  server.once("exit", () => dismissGuard(server));
  for (const stream of [server.stdio[3], server.stderr]) stream?.on("error", () => {});
  // Allows this process to exit while the server runs. The pipe closes when this process ends, and the guard stops the
  // server.
  server.unref();
  for (const stream of [server.stdio[3], server.stderr]) if (stream instanceof Socket) stream.unref();
  return server;
}

/** Sends the guard a line, with which it exits without doing anything. */
function dismissGuard(server: ChildProcess): void {
  const pipe = server.stdio[3];
  if (pipe && "end" in pipe) pipe.end("\n");
}

/** Descriptor of the data folder in the processes that {@link withFolderHandle} starts. */
const FOLDER_FD = 4;

/**
 * Starts a Postgres program. On Linux, the program opens the data folder through an inherited descriptor, so that it
 * works even if its user has no access to a parent folder (such as `/root`), or if the folder's path is too long. On
 * other systems, the program opens the folder by its path. The program must be started in `/`, because Postgres 15
 * leaves its working directory at the start and must be able to return to it.
 *
 * @param start receives the handle for the program's `stdio[4]`, and the path under which the program sees the folder.
 */
export function withFolderHandle(
  folder: string,
  start: (handle: number | "ignore", path: string) => ChildProcess,
): ChildProcess {
  if (process.platform !== "linux") return start("ignore", folder);
  const handle = openSync(folder, "r");
  try {
    return start(handle, `/proc/self/fd/${FOLDER_FD}`);
  } finally {
    closeSync(handle);
  }
}

/**
 * Returns the environment of the server. `LC_ALL=C` makes Postgres write its messages in English, because this file
 * parses them. The cast is needed because Next's types declare NODE_ENV as required.
 */
export const serverEnvironment = () =>
  ({ PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }) as unknown as NodeJS.ProcessEnv;

const isStillOccupied = (error: Error) =>
  /shared memory block .*is still in use|lock file "[^"]+" already exists|is already in use/.test(
    error.message,
  );

/**
 * Returns the error messages in the server's output, or its last line if it contains none, as a text to append to an
 * error message.
 */
function describeOutput(output: string[]): string {
  const messages = output
    .map((line) => /^(?:FATAL|PANIC|ERROR|HINT|DETAIL|postgres):\s*(.*)/.exec(line)?.[1] ?? "")
    .filter((line) => line !== "");
  const text = messages.length > 0 ? messages.join(" ") : (output.at(-1) ?? "");
  return text === "" ? "" : `: ${text.slice(0, 600)}`;
}

function report(logger: PostmasterLogger, line: string): void {
  const [, level = "", text = line] = /^([A-Z]+):\s*(.*)/.exec(line) ?? [];
  if (level === "PANIC") logger.error({ postgres: text }, "the embedded Postgres reported a panic");
  else if (level === "FATAL") logger.warn({ postgres: text }, "the embedded Postgres reported a fatal error");
  else logger.debug({ postgres: line }, "output of the embedded Postgres");
}

/** Stops the server and waits until it has exited; kills it if it does not stop in time. */
async function endServer(server: ChildProcess, mode: StopMode): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  server.ref();
  server.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    const hasExited = await Promise.race([
      exited.then(() => true),
      sleep(STOP_GRACE_MS, false, { ref: false }),
    ]);
    if (hasExited) return;
    server.kill(signal);
  }
  await exited;
}
