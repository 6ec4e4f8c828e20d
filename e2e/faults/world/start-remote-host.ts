import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { watchProcesses } from "./watch-processes.ts";

/** The token that the remote hosts of a world demand. */
const TOKEN = "remote-hosts-of-the-fault-campaign";
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const END_MAX_MS = 30_000;

/** A browser host that an operator has started with `npm run browser-host`, as on another machine. */
export type RemoteHost = {
  id: string;
  url: string;
  /** Whether a Chromium runs at the host. */
  hasBrowser: () => boolean;
  /** Kills the host's program and the command that would start it again. Its Chromiums are not killed. */
  kill: () => void;
  /** Ends the host in order, unless it was killed. @returns what still runs of the host 30 s later. */
  end: () => Promise<string[]>;
};

/** Returns the environment variables of a service that uses these hosts. */
export const remoteHostVariables = (urls: string[]): Record<string, string> => ({
  BROWSER_HOSTS: urls.join(","),
  BROWSER_HOST_TOKEN: TOKEN,
});

/**
 * Starts a host on a free port, with its data below the folder of the world.
 * @throws Error with the output of the host if it does not start.
 */
export async function startRemoteHost(options: {
  dataDir: string;
  name: string;
  places: number;
}): Promise<RemoteHost> {
  const child = spawn(process.execPath, [join(ROOT, "lib/setup/run.mjs"), "browser-host"], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      NODE_ENV: "production",
      DATA_DIR: join(options.dataDir, options.name),
      SANDBOX: "unconfined",
      BROWSER_HOST_LISTEN: "127.0.0.1:0",
      BROWSER_HOST_TOKEN: TOKEN,
      BROWSER_HOST_LINGER_MS: "0",
      BROWSER_MAX_LIVE: String(options.places),
      ...(process.env.BROWSER_EXECUTABLE_PATH !== undefined && {
        BROWSER_EXECUTABLE_PATH: process.env.BROWSER_EXECUTABLE_PATH,
      }),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const processes = watchProcesses();
  processes.follow(child.pid);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const { id, url } = await readBanner(createInterface(child.stdout), exited);
  return {
    id,
    url,
    hasBrowser: () => processes.find("").some(({ name }) => /^chrom|headless/i.test(name)),
    kill() {
      const programs = processes.find("browser-host/main");
      if (programs.length === 0) throw new Error("the browser host does not run");
      child.kill("SIGKILL");
      for (const { pid } of programs) process.kill(pid, "SIGKILL");
    },
    async end() {
      processes.look();
      child.kill("SIGTERM");
      await exited;
      const left = await processes.waitForEnd(END_MAX_MS);
      processes.stop();
      return left.map(
        ({ pid, name }) => `process ${pid} (${name}) of the browser host ${url} was left behind`,
      );
    },
  };
}

async function readBanner(
  lines: ReturnType<typeof createInterface>,
  exited: Promise<void>,
): Promise<{ id: string; url: string }> {
  const seen: string[] = [];
  const { promise: listening, resolve } = Promise.withResolvers<{ id: string; url: string }>();
  lines.on("line", (line) => {
    seen.push(line);
    const [, id, url] = /(bh_\S+) listens at (ws:\/\/127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (id !== undefined && url !== undefined) resolve({ id, url });
  });
  const ended = exited.then(() => {
    throw new Error(`the browser host did not start:\n${seen.join("\n")}`);
  });
  return Promise.race([listening, ended]);
}
