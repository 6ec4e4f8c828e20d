import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A helper of the bench in a process of its own, reached by messages. */
export type Child = {
  pid: number;
  /** What it said when it was ready. */
  ready: { port: number };
  /** Sends a message and resolves with the next one that comes back. */
  ask: (message: object | string) => Promise<unknown>;
  stop: () => Promise<void>;
};

/** Starts a script of this folder and waits for its first message. @throws Error when it ends before that. */
export async function startChild(script: string, variables: Record<string, string> = {}): Promise<Child> {
  const child: ChildProcess = fork(fileURLToPath(new URL(script, import.meta.url)), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: { ...process.env, NODE_ENV: "production", ...variables },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = async () => {
    const left = new AbortController();
    const gone = once(child, "exit", { signal: left.signal }).then(([code]) => {
      throw new Error(`${script} ended with ${code}`);
    });
    try {
      return (await Promise.race([once(child, "message"), gone]))[0] as unknown;
    } finally {
      left.abort();
      gone.catch(() => {});
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
