import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { chromiumFlags } from "./chromium-flags.ts";
import type { Devtools } from "./devtools-connection.ts";
import { openDevtoolsPipe } from "./devtools-pipe.ts";
import { type Account, killGroup, makeProfileFolder } from "./profile-folder.ts";

/** How to start one Chromium. `env` and `args` are added to those of every browser. */
export type StartOptions = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** Where profiles and the records of running browsers are kept. */
  folder: string;
  proxyServer: string;
  ownKeyHash?: string | undefined;
  sandbox: boolean;
  account: Account | undefined;
  timeoutMs: number;
};

/** A Chromium whose DevTools only this process reaches, through pipes. */
export type StartedChromium = {
  pid: number;
  devtools: Devtools;
  exited: Promise<void>;
  kill: () => Promise<void>;
};

/**
 * The browser replaces the shell in a process group of its own, with the pipes for DevTools as its only further
 * descriptors, 3 and 4; a second process reads from a pipe that only this process holds. When that pipe closes it ends the
 * browser, removes the profile (`$0`) and kills the whole group: however this process ends, no browser outlives it.
 */
const GUARDED_START =
  '(exec 3<&- 4<&-; read _ <&5; kill -9 $$; rm -rf "$0"; kill -9 -$$) & exec 5<&-; exec "$@"';

/**
 * Starts Chromium as a child of this process.
 *
 * @throws Error with the last line of Chromium's output when it does not start.
 */
export async function startChromium(options: StartOptions): Promise<StartedChromium> {
  const profile = await makeProfileFolder(options.folder, options.account);
  const flags = [...options.args, ...chromiumFlags({ ...options, profileDir: profile.path })];
  const child = spawnGuarded(options, flags, profile.path);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const kill = async () => {
    if (child.pid !== undefined) {
      killGroup(child.pid);
      await exited;
    }
    await profile.remove();
  };
  try {
    const devtools = await untilReady(child, options.timeoutMs);
    const pid = child.pid ?? 0;
    await profile.recordProcess(pid);
    // When the browser ended by itself, its group still has the reading process, and its folder exists.
    void exited.then(kill);
    return { pid, devtools, exited, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

function spawnGuarded(options: StartOptions, flags: string[], profileDir: string): ChildProcess {
  const env: Record<string, string> = {
    HOME: profileDir,
    TMPDIR: profileDir,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    // Keeps Chromium from looking for a message bus, because there is none.
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null",
    DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/dev/null",
    ...options.env,
  };
  // The types of a framework in this project claim that every environment has NODE_ENV.
  const common: SpawnOptions = { cwd: profileDir, env: env as NodeJS.ProcessEnv, ...(options.account ?? {}) };
  if (process.platform === "win32") {
    return spawn(options.executablePath, flags, {
      ...common,
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    });
  }
  return spawn("/bin/sh", ["-c", GUARDED_START, profileDir, options.executablePath, ...flags], {
    ...common,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
  });
}

const TIMEOUT = "BrowserStartTimeout";

/** Whether a start took too long, which does not mean that this way to start does not work. */
export const isStartTimeout = (error: unknown): boolean => error instanceof Error && error.name === TIMEOUT;

/** Waits until the browser answers, and reads no further output after that. */
async function untilReady(child: ChildProcess, timeoutMs: number): Promise<Devtools> {
  // Without a process there are no pipes.
  const [, , , commands, answers] = child.stdio as [
    unknown,
    unknown,
    unknown,
    Writable | null,
    Readable | null,
  ];
  const failed = Promise.withResolvers<never>();
  let text = "";
  const fail = (why: string, name = "Error") =>
    failed.reject(Object.assign(new Error(`the browser ${why}${lastWords(text)}`), { name }));
  const timer = setTimeout(() => fail(`did not come up in ${timeoutMs / 1000} s`, TIMEOUT), timeoutMs);
  child.once("error", (error) => fail(`could not be started: ${error.message}`));
  child.once("exit", (code, signal) => fail(`ended at its start (${signal ?? `exit code ${code}`})`));
  const read = (chunk: Buffer) => {
    text += chunk;
  };
  child.stderr?.on("data", read);
  try {
    if (!commands || !answers) return await failed.promise;
    const devtools = openDevtoolsPipe(commands, answers);
    // A browser that ends before it answers is reported by its end.
    const isUp = devtools.ready().catch(() => failed.promise);
    await Promise.race([isUp, failed.promise]);
    return devtools;
  } finally {
    clearTimeout(timer);
    child.stderr?.off("data", read);
    child.stderr?.resume();
    failed.promise.catch(() => {});
  }
}

/** The last line of the output that is not about the missing message bus, as the cause of the failure. */
function lastWords(text: string): string {
  const line = text
    .split("\n")
    .map((each) => each.replace(/^\[[^\]]*\]\s*/, "").trim())
    .filter((each) => each !== "" && !each.includes("dbus") && !each.includes("bus.cc"))
    .at(-1);
  return line === undefined ? "" : `: ${line.slice(0, 300)}`;
}
