import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Program<Ready> = { ready: Ready; child: ChildProcess; close: () => Promise<void> };

/**
 * Starts a program of the harness as a process of its own, so that its work does not delay the measurement. The program
 * ends when this process ends.
 *
 * @param argument passed to the program as JSON.
 * @returns `ready`: the first message of the program.
 */
export async function startProgram<Ready>(file: string, argument: unknown): Promise<Program<Ready>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, [JSON.stringify(argument)], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const ready = await new Promise<Ready>((done, fail) => {
    child.once("exit", (code) => fail(new Error(`${file} ended with ${code}`)));
    // The program sends what its caller expects.
    child.once("message", (message) => done(message as Ready));
  });
  return {
    ready,
    child,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await ended;
    },
  };
}
