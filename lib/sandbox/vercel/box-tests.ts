import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CommandResult,
  TEST_PROXY_SOCKET,
  type TestProgram,
  type Workspace,
} from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { BoxConfinement } from "./box-confinement.ts";
import { installBoxProgram } from "./box-program.ts";
import { runBoxScript } from "./run-box-script.ts";
import { programFolderIn } from "./start-in-box.ts";
import type { VercelBox } from "./vercel-box.ts";

/** How often a test run that runs in a box is looked at. */
const POLL_MS = 1_000;
/** How much of the output of a test run is kept. */
const OUTPUT_BYTES = 65_536;
/** How long after its time limit a test run is given up. */
const LATE_MS = 60_000;

/**
 * Shell script that runs a test program in folder `$1` of the test run, unless it runs or has run there: forwards the
 * proxy's port `$2` with Node `$3` and its program `$4`, runs the command after these, and keeps its output and its exit
 * code. The function that has started it may end first. The forwarder gets a relative path,
 * because the path of a socket may have 107 characters at most.
 */
const RUN = `cd -- "$1" && exec 9<> lock && flock --nonblock 9 || exit 0
[ -e exit ] && exit 0
echo $$ > pid; echo "$2" > port; rm -rf egress; "$3" "$4" egress "$2" > forwarder 2>&1 9>&- & forwarder=$!
for _ in $(seq 100); do [ -S egress/proxy.sock ] && break; sleep 0.1; done
shift 4
"$@" 9>&- < /dev/null 2>&1 | tail -c ${OUTPUT_BYTES} 9>&- > output
echo "\${PIPESTATUS[0]}" > exit.new; mv exit.new exit; kill "$forwarder"`;

/**
 * Shell script that prints the state of the test run in folder `$1`, which uses the proxy's port `$2`: `none`, `running`,
 * `lost` if its processes were killed or its proxy has ended, or its exit code and its output.
 */
const READ = `cd -- "$1" 2> /dev/null || { echo none; exit; }
[ ! -e port ] || [ "$(cat port)" = "$2" ] || { echo lost; exit; }
[ -e exit ] && { cat exit output; exit; }
[ -e pid ] || { echo running; exit; }
exec 9<> lock; flock --nonblock 9 || { echo running; exit; }
if [ -e exit ]; then cat exit output; else echo lost; fi`;

/** Shell script that ends the test run in folder `$1` and removes its files. */
const REMOVE = `cd -- "$1" 2> /dev/null || exit 0
[ -e pid ] && kill -KILL -- "-$(cat pid)" 2> /dev/null; rm -rf -- "$1"`;

type TestOptions = Parameters<Workspace["runTests"]>[1];

const folderOf = (box: VercelBox, id: string) => `${programFolderIn(box)}/tests-${id}`;

const readState = (box: VercelBox, id: string, proxyPort: number) =>
  runBoxScript(box, READ, [folderOf(box, id), String(proxyPort)]);

/** Whether a test run of this id with this proxy runs in the box, or has ended there. */
export async function hasTestsInBox(box: VercelBox, id: string, proxyPort: number): Promise<boolean> {
  return !["none", "lost"].includes((await readState(box, id, proxyPort)).trim());
}

/**
 * Runs a test program in a box with bubblewrap. The program does not end with the function that has started it: a call
 * with the same id finds it again.
 *
 * @throws the signal's reason if the program continues without the caller; WorkspaceError if bubblewrap does not work.
 */
export async function runTestsInBox(
  box: VercelBox,
  confinement: BoxConfinement,
  program: TestProgram,
  { id = randomUUID(), timeoutMs, signal, survives = () => false }: TestOptions,
): Promise<CommandResult> {
  const { bubblewrap } = confinement;
  if (bubblewrap === "none")
    throw new WorkspaceError("test runs need bubblewrap, which does not work in the machine of this session");
  const startedAt = performance.now();
  const folder = folderOf(box, id);
  const remove = () => runBoxScript(box, REMOVE, [folder], { sudo: bubblewrap === "sudo" });
  const { proxyPort } = program;
  if (!(await hasTestsInBox(box, id, proxyPort))) {
    await remove();
    await startTests(box, confinement, program, folder, timeoutMs);
  }
  const isLate = () => performance.now() - startedAt > timeoutMs + LATE_MS;
  let state = "running";
  while (state === "running" && !signal.aborted && !isLate()) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    state = (await readState(box, id, proxyPort)).trimEnd();
  }
  const isRunning = state === "running";
  if (isRunning && signal.aborted && survives(signal.reason)) throw signal.reason;
  await remove();
  const [code = "", ...lines] = state.split("\n");
  const isEnded = /^\d+$/.test(code);
  const timedOut = Number(code) === KILLED || (isRunning && !signal.aborted);
  return {
    exitCode: isEnded && !timedOut ? Number(code) : null,
    signal: isEnded && !timedOut ? null : "SIGKILL",
    output: isEnded ? lines.join("\n") : "",
    truncated: false,
    timedOut,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** The exit code of `timeout` after it has killed the command. */
const KILLED = 137;

/** Writes the files of a test program, and starts it. Does not wait for its end. */
async function startTests(
  box: VercelBox,
  confinement: BoxConfinement,
  { files, script, packages: names, shown, proxyPort }: TestProgram,
  folder: string,
  timeoutMs: number,
): Promise<void> {
  const { packages, root } = await installBoxProgram(box);
  const node = (await runBoxScript(box, "node -p process.execPath", [])).trim();
  await box.writeFiles(files.map(({ path, bytes }) => ({ path: `${folder}/files${path}`, content: bytes })));
  const readOnly = (from: string, to: string) => ["--ro-bind", from, to];
  const view = [
    ...[
      "--die-with-parent",
      "--new-session",
      "--clearenv",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--tmpfs",
      "/tmp",
    ],
    ...["/usr", "/etc", "/lib", "/lib64", "/bin", "/sbin"].flatMap((path) => ["--ro-bind-try", path, path]),
    ...names.flatMap((name) => readOnly(`${packages}/${name}`, `/node_modules/${name}`)),
    ...shown.flatMap(({ from, to }) => readOnly(from, to)),
    ...files.flatMap(({ path }) => readOnly(`${folder}/files${path}`, path)),
    ...readOnly(node, NODE),
    ...readOnly(`${folder}/egress`, posix.dirname(TEST_PROXY_SOCKET)),
    ...["--bind", confinement.workspace, "/workspace", "--chdir", "/workspace"],
    ...["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--"],
  ];
  await box.runCommand({
    // The program and all its processes are one session, so that they are ended together.
    cmd: "setsid",
    args: [
      ...["--wait", "bash", "-c", RUN, "bash", folder, String(proxyPort)],
      ...[node, `${root}/program/egress-worker.mjs`],
      // The limit is below sudo, because only root can end what root has started.
      ...(confinement.bubblewrap === "sudo" ? ["sudo", "-n"] : []),
      ...["timeout", "--foreground", "--signal=KILL", String(Math.ceil(timeoutMs / 1_000))],
      ...confinement.inView(view),
      ...[NODE, "--disable-warning=ExperimentalWarning", script],
    ],
    detached: true,
  });
}

/** The path of Node in the view of a test program. */
const NODE = "/run-node";
