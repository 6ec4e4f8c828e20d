import type { Bubblewrap } from "./image-record.ts";
import { runBoxScript } from "./run-box-script.ts";
import { programFolderIn } from "./start-in-box.ts";
import type { VercelBox } from "./vercel-box.ts";

/** Files of a confined command that it gets as open files, so that no link can lead it to other files. */
type CommandFiles = {
  /** A file to read from standard input. */
  input?: string | undefined;
  /** A file to write as open file 3. */
  output?: string | undefined;
};

/**
 * How commands of the agent, and the service's own scripts for files of the workspace, run in a box: apart from the
 * browser host, whose token and profiles they must not read. The user of a box may become root, so its permissions
 * protect nothing.
 */
export type BoxConfinement = {
  bubblewrap: Bubblewrap;
  /** The folder of the workspace. */
  workspace: string;
  /** The folder for temporary files, as commands see it. */
  tmp: string;
  /** A folder that commands can read but not change, for the files of programs. */
  programs: string;
  /** A folder for files that the service and commands exchange. Commands cannot find it. */
  transfer: string;
  /** Composes the beginning of a command in another view of the machine. @param options bubblewrap's, up to `--`. */
  inView: (options: readonly string[]) => string[];
  /** Composes what the SDK has to run for a command. */
  wrap: (argv: readonly string[], files?: CommandFiles) => { cmd: string; args: string[]; sudo: boolean };
};

/** The user of commands where bubblewrap does not work. It has no password, no groups and no files but the workspace. */
const LONELY_USER = "64123";

/** How long a file in the folder for exchanged files is kept, in minutes. */
const TRANSFER_MINUTES = 5;

/**
 * Shell script that creates the folders of home `$1`, and gives those of commands to user `$2` if one is named. Prints the
 * ids of the user and the group of the home.
 */
const MAKE_FOLDERS = `cd -- "$1" && (umask 077 && mkdir -p .programs/transfer && chmod 700 .programs) &&
mkdir -p .agent/home .agent/tmp .agent-programs sandbox || exit 1
chown --reference=. .programs .programs/transfer .agent-programs .agent .agent/home .agent/tmp sandbox || exit 1
if [ -n "$2" ]; then chmod a+x . && chown -R "$2:$2" .agent sandbox || exit 1; fi
stat -c '%u %g' .`;

/** Shell script that opens the files `$1` (input) and `$2` (output) and runs the command after `$3`, the folder of such files. */
const RUN = `find "$3" -maxdepth 1 -type f -mmin +${TRANSFER_MINUTES} -delete
exec < "$1" 3> "$2" || exit 126
shift 3; exec "$@"`;

/** Prepares a box for confined commands. @param bubblewrap how bubblewrap works in the box now. */
export async function confineInBox(box: VercelBox, bubblewrap: Bubblewrap): Promise<BoxConfinement> {
  const home = box.cwd;
  const sudo = bubblewrap !== "user";
  const owner = bubblewrap === "none" ? LONELY_USER : "";
  const [uid = "", gid = ""] = (await runBoxScript(box, MAKE_FOLDERS, [home, owner], { sudo }))
    .trim()
    .split(" ");
  const folders = {
    workspace: `${home}/sandbox`,
    programs: `${home}/.agent-programs`,
    transfer: `${programFolderIn(box)}/transfer`,
  };
  const own = { home: `${home}/.agent/home`, tmp: `${home}/.agent/tmp` };
  // Everything in the real home disappears behind the agent's own home: the host's program, its token and its profiles.
  const view = [
    ...["--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...["--bind", own.tmp, "/tmp", "--bind", own.home, home],
    ...["--ro-bind", folders.programs, folders.programs, "--bind", folders.workspace, folders.workspace],
    ...["--setenv", "HOME", home, "--setenv", "TMPDIR", "/tmp", "--"],
  ];
  const dropTo = (user: string, group: string) => [
    ...["setpriv", "--reuid", user, "--regid", group, "--clear-groups"],
    ...["--no-new-privs", "--bounding-set=-all", "--"],
  ];
  const inView = (options: readonly string[]) =>
    bubblewrap === "user"
      ? ["bwrap", "--unshare-all", ...options]
      : // Root without a user namespace, so that the files keep their owner; then the user of the box again.
        ["bwrap", ...NAMESPACES, ...options, ...dropTo(uid, gid)];
  const prefix =
    bubblewrap === "none"
      ? [...dropTo(LONELY_USER, LONELY_USER), "env", `HOME=${own.home}`, `TMPDIR=${own.tmp}`]
      : inView(view);
  return {
    bubblewrap,
    ...folders,
    tmp: bubblewrap === "none" ? own.tmp : "/tmp",
    inView,
    wrap: (argv, { input = "/dev/null", output = "/dev/null" } = {}) => ({
      cmd: "bash",
      args: ["-c", RUN, "bash", input, output, folders.transfer, ...prefix, ...argv],
      sudo,
    }),
  };
}

const NAMESPACES = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"];
