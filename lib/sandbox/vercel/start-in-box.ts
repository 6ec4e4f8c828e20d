import { isStopped } from "./sdk-errors.ts";
import type { VercelBox, VercelBoxes } from "./vercel-box.ts";

/** A program that runs in a box until it ends or the box stops. */
type BoxProgram = {
  command: string;
  args: string[];
  /** The program's own variables. Secrets of this start belong here, because the variables of a box itself are permanent. */
  env: Record<string, string>;
  /** The port of the box on which the program listens, at all addresses. It also gets it as `PORT`. */
  port: number;
};

/** The exit code of a start that was refused because the program runs already. */
const ALREADY_RUNNING = 75;
/** How long a start waits for the lock. A probe by {@link isRunning} holds the lock for an instant, and must not refuse a start. */
const LOCK_WAIT_S = 1;
/** How much of the program's last output is kept. It is written to the file `port-<port>.log` when the program ends. */
const OUTPUT_BYTES = 65_536;

/**
 * Shell script that starts a program, given from `$3` on, unless another one holds the lock of port `$2` in folder `$1`.
 * The program itself holds the lock, as its open file 9, so that the kernel releases the lock when the program ends,
 * however it ends. Node does not pass that file on to its child processes.
 */
const START = `mkdir -p -- "$1" && exec 9>> "$1/port-$2.lock" || exit 1
flock --wait ${LOCK_WAIT_S} 9 || exit ${ALREADY_RUNNING}
exec > >(exec 9>&-; exec tail -c ${OUTPUT_BYTES} > "$1/port-$2.log") 2>&1
shift 2; exec "$@"`;

/** Shell script that exits with {@link ALREADY_RUNNING} if a program holds the lock of port `$2` in folder `$1`. */
const PROBE = `[ -e "$1/port-$2.lock" ] || exit 0
exec flock --shared --nonblock --conflict-exit-code ${ALREADY_RUNNING} "$1/port-$2.lock" true`;

/** Where the locks are: outside of the workspace. */
const folderIn = (box: VercelBox) => `${box.cwd}/.programs`;

/**
 * Starts a program in a box, if no program runs on its port there. The SDK repeats a start whose answer was lost, and
 * several processes may start the same program; only one of them runs. Does not wait until the program listens.
 *
 * @returns the public URL of the port, without a trailing slash. It has no authentication: the program must check a token.
 */
export async function startInBox(box: VercelBox, program: BoxProgram): Promise<string> {
  const { command, args, env, port } = program;
  await box.runCommand({
    cmd: "bash",
    args: ["-c", START, "bash", folderIn(box), String(port), command, ...args],
    env: { ...env, PORT: String(port) },
    detached: true,
  });
  return readEndpoint(box, port);
}

/** Returns the current public URL of a port, without a trailing slash. Read it again after each resume of the box. */
export function readEndpoint(box: VercelBox, port: number): string {
  const route = box.routes.find((each) => each.port === port);
  if (!route) throw new Error(`the box has no public URL for port ${port}: ports are named at its creation`);
  return route.url.replace(/\/$/, "");
}

/** Whether a program that {@link startInBox} has started runs on a port of the session's box. Never resumes the box. */
export async function isRunning(
  boxes: Pick<VercelBoxes, "findRunning">,
  sessionId: string,
  port: number,
): Promise<boolean> {
  const box = await boxes.findRunning(sessionId);
  if (!box) return false;
  try {
    const probe = await box.runCommand({
      cmd: "bash",
      args: ["-c", PROBE, "bash", folderIn(box), String(port)],
      detached: true,
    });
    return (await probe.wait()).exitCode === ALREADY_RUNNING;
  } catch (error) {
    if (isStopped(error)) return false;
    throw error;
  }
}
