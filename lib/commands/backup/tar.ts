import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 64 * 2 ** 20;

/**
 * Writes files and folders into an archive (`.tar.gz`) with the machine's `tar`, because names in a workspace may be any
 * bytes, and npm's `tar` fails on a name that is not UTF-8. A file that changes or vanishes meanwhile is no failure: the
 * service may be running.
 *
 * @param parts `names` are relative to `folder`, and are the paths in the archive.
 */
export async function packFolders(
  archive: string,
  parts: readonly { folder: string; names: readonly string[] }[],
): Promise<void> {
  const places = parts.flatMap(({ folder, names }) => (names.length > 0 ? ["-C", folder, ...names] : []));
  const isGnu = (await runTar(["--version"])).includes("GNU tar");
  await runTar(["-czf", archive, ...places]).catch((error: unknown) => {
    // With this code, GNU's tar has written an archive, and says that files differ from their state at its start.
    if (!(isGnu && error instanceof TarError && error.code === 1)) throw error;
  });
}

/**
 * Unpacks an archive into an existing folder. Owners are not kept, and neither are set-user-ID bits: the files become
 * those of the current user, who may be root.
 */
export async function unpack(archive: string, folder: string): Promise<void> {
  await runTar(["-xzf", archive, "-C", folder, "--no-same-owner", "--no-same-permissions"]);
}

class TarError extends Error {
  readonly code: unknown;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
  }
}

/** @returns what `tar` printed. @throws TarError with the first line of its complaint. */
async function runTar(args: string[]): Promise<string> {
  try {
    const options = { maxBuffer: OUTPUT_BYTES_MAX, env: { ...process.env, LC_ALL: "C" } };
    return (await run("tar", args, options)).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new TarError("the program tar is not installed", code);
    throw new TarError(stderr?.trim().split("\n")[0] || String(error), code);
  }
}
