import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { BROWSER_PRIORITY, lowerAutogroupOf, withLowPriority } from "#lib/isolation/low-priority.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { errorText } from "#lib/text/error-text.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { chromiumFlags } from "./chromium-flags.ts";
import type { Devtools } from "./devtools-connection.ts";
import { openDevtoolsPipe } from "./devtools-pipe.ts";
import { killGroup, makeProfileFolder } from "./profile-folder.ts";
import { identityFlags, type VisitorIdentity } from "./visitor-identity.ts";

/** How to start one Chromium. `env` and `args` are added to the defaults. */
export type StartOptions = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** The folder for profiles and for the records of running browsers. */
  folder: string;
  proxyServer: string;
  ownKeyHash?: string | undefined;
  sandbox: boolean;
  /** How the browser introduces itself to pages. Undefined for Chromium's own way, as a headless browser. */
  identity?: VisitorIdentity | undefined;
  account: SandboxUser | undefined;
  timeoutMs: number;
};

/** A started Chromium. Only this process can reach its DevTools, through pipes. */
export type StartedChromium = {
  pid: number;
  devtools: Devtools;
  exited: Promise<void>;
  kill: () => Promise<void>;
};

/**
 * The shell command that starts the browser and prevents the browser from outliving this process. A background process
 * reads descriptor 5, a pipe that only this process holds open. When the pipe closes, the background process kills the
 * browser, removes the profile (`$0`) and kills the whole process group. The browser replaces the shell. The browser
 * inherits the DevTools pipes 3 and 4, but not descriptor 5.
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
  const flags = [
    ...options.args,
    ...chromiumFlags({ ...options, profileDir: profile.path }),
    ...identityFlags(options.identity),
  ];
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
    const devtools = await untilReady(child, options);
    const pid = child.pid ?? 0;
    await profile.recordProcess(pid);
    // When the browser ends by itself, `kill` ends the background process and removes the profile folder.
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
    // Keeps Chromium from looking for a message bus.
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null",
    DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/dev/null",
    ...options.env,
  };
  // The cast is needed because Next.js declares NODE_ENV as required.
  const common: SpawnOptions = { cwd: profileDir, env: env as NodeJS.ProcessEnv, ...(options.account ?? {}) };
  if (process.platform === "win32") {
    return spawn(options.executablePath, flags, {
      ...common,
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    });
  }
  const [launcher = "", ...args] = withLowPriority(
    ["/bin/sh", "-c", GUARDED_START, profileDir],
    BROWSER_PRIORITY,
  );
  const child = spawn(launcher, [...args, options.executablePath, ...flags], {
    ...common,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
  });
  lowerAutogroupOf(child.pid, BROWSER_PRIORITY);
  return child;
}

const TIMEOUT = "BrowserStartTimeout";

/** Whether a start failed because it took too long. Another attempt to start in the same way may succeed. */
export const isStartTimeout = (error: unknown): boolean => error instanceof Error && error.name === TIMEOUT;

/** Waits until the browser answers. After that, the browser's output is discarded. */
async function untilReady(
  child: ChildProcess,
  { timeoutMs, identity }: Pick<StartOptions, "timeoutMs" | "identity">,
): Promise<Devtools> {
  // The pipes are null when the process could not be started.
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
  child.once("error", (error) => fail(`could not be started: ${errorText(error)}`));
  child.once("exit", (code, signal) => fail(`ended at its start (${signal ?? `exit code ${code}`})`));
  const read = (piece: string) => {
    text += piece;
  };
  child.stderr?.setEncoding("utf8").on("data", read);
  try {
    if (!commands || !answers) return await failed.promise;
    const devtools = openDevtoolsPipe(commands, answers, identity);
    // If the browser ends before it answers, `failed` has the better reason.
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

/** Returns the last line of the output, which usually names the cause. Skips lines about the missing message bus. */
function lastWords(text: string): string {
  const line = text
    .split("\n")
    .map((each) => each.replace(/^\[[^\]]*\]\s*/, "").trim())
    .filter((each) => each !== "" && !each.includes("dbus") && !each.includes("bus.cc"))
    .at(-1);
  return line === undefined ? "" : `: ${beginningOf(line, 300)}`;
}
