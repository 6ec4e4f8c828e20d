import { runBoxScript } from "./run-box-script.ts";
import { isStopped } from "./sdk-errors.ts";
import type { VercelBox, VercelBoxes } from "./vercel-box.ts";

/** A program that runs in a box until it ends or the box stops. */
type BoxProgram = {
  command: string;
  args: string[];
  /** The program's own variables. The variables of a box itself are permanent. */
  env: Record<string, string>;
  /**
   * What the program reads from standard input. Secrets belong here: other processes of the same user can read a
   * program's environment and arguments.
   */
  input?: string;
  /** Runs the program as root. */
  sudo?: boolean;
  /** The port of the box on which the program listens, at all addresses. It also gets it as `PORT`. */
  port: number;
};

/** The variable with the input. The shell that starts the program removes it before it starts anything. */
const INPUT = "PROGRAM_INPUT";
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
const START = `input=$${INPUT}; unset ${INPUT}
mkdir -p -- "$1" && chown --reference="$1/.." -- "$1" && chmod 700 -- "$1" && exec 9<> "$1/port-$2.lock" || exit 1
flock --wait ${LOCK_WAIT_S} 9 || exit ${ALREADY_RUNNING}
echo $$ > "$1/port-$2.pid"
exec > >(exec 9>&-; exec tail -c ${OUTPUT_BYTES} > "$1/port-$2.log") 2>&1
shift 2; exec "$@" <<< "$input"`;

/**
 * Shell script that ends the program which holds the lock of port `$2` in folder `$1`, and waits up to `$3` seconds for
 * its end.
 */
const STOP = `cd -- "$1" 2> /dev/null && [ -e "port-$2.lock" ] || exit 0
exec 9<> "port-$2.lock"; flock --nonblock 9 && exit 0
kill -KILL "$(cat "port-$2.pid")"; flock --wait "$3" 9`;
const STOP_WAIT_S = 10;

/** Shell script that exits with {@link ALREADY_RUNNING} if a program holds the lock of port `$2` in folder `$1`. */
const PROBE = `[ -e "$1/port-$2.lock" ] || exit 0
exec flock --shared --nonblock --conflict-exit-code ${ALREADY_RUNNING} "$1/port-$2.lock" true`;

/** The folder of the locks and the output of programs. Only the box's user can read it, and commands of the agent cannot. */
export const programFolderIn = (box: Pick<VercelBox, "cwd">) => `${box.cwd}/.programs`;

/**
 * Starts a program in a box, if no program runs on its port there. The SDK repeats a start whose answer was lost, and
 * several processes may start the same program; only one of them runs. Does not wait until the program listens.
 *
 * @returns the public URL of the port, without a trailing slash. It has no authentication: the program must check a token.
 */
export async function startInBox(box: VercelBox, program: BoxProgram): Promise<string> {
  const { command, args, env, port, input = "", sudo = false } = program;
  await box.runCommand({
    cmd: "bash",
    args: ["-c", START, "bash", programFolderIn(box), String(port), command, ...args],
    env: { ...env, PORT: String(port), [INPUT]: input },
    sudo,
    detached: true,
  });
  return readEndpoint(box, port);
}

/**
 * Ends the program that {@link startInBox} has started on a port, if one runs, and all that it has not passed to others.
 * @param sudo whether the program may be one of root.
 */
export async function stopInBox(box: VercelBox, port: number, sudo: boolean): Promise<void> {
  await runBoxScript(box, STOP, [programFolderIn(box), String(port), String(STOP_WAIT_S)], { sudo });
}

/** Returns the last output of a program that has ended. */
export async function readLog(box: VercelBox, port: number): Promise<string> {
  return String((await box.readFileToBuffer({ path: `${programFolderIn(box)}/port-${port}.log` })) ?? "");
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
      args: ["-c", PROBE, "bash", programFolderIn(box), String(port)],
      detached: true,
    });
    return (await probe.wait()).exitCode === ALREADY_RUNNING;
  } catch (error) {
    if (isStopped(error)) return false;
    throw error;
  }
}
