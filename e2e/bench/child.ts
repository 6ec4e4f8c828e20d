import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A helper process with which the benchmark exchanges messages. */
export type Child = {
  pid: number;
  /** The first message, which the process sends when it is ready. */
  ready: { port: number };
  /** Sends a message and resolves with the next message from the process. */
  ask: (message: object | string) => Promise<unknown>;
  stop: () => Promise<void>;
};

/**
 * Starts a script of this folder as a process, and waits for its first message.
 *
 * @throws Error if the process ends before it has sent a message.
 */
export async function startChild(script: string, variables: Record<string, string> = {}): Promise<Child> {
  const child: ChildProcess = fork(fileURLToPath(new URL(script, import.meta.url)), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: { ...process.env, NODE_ENV: "production", ...variables },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = async () => {
    const finished = new AbortController();
    const exited = once(child, "exit", { signal: finished.signal }).then(([code]) => {
      throw new Error(`${script} ended with ${code}`);
    });
    try {
      return (await Promise.race([once(child, "message"), exited]))[0] as unknown;
    } finally {
      finished.abort();
      exited.catch(() => {});
    }
  };
  const ready = (await next()) as { port: number };
  return {
    pid: child.pid ?? 0,
    ready,
    ask(message) {
      const answer = next();
      child.send(message);
      return answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
