import { posix } from "node:path";
import { installBoxProgram } from "#lib/sandbox/vercel/box-program.ts";
import { type BoxConnection, loadSdk } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import { type ImageRecord, probeBubblewrap, writeImageRecord } from "#lib/sandbox/vercel/image-record.ts";
import type { VercelBox } from "#lib/sandbox/vercel/vercel-box.ts";
import { errorText } from "#lib/text/error-text.ts";

type SnapshotOptions = {
  /** The version of Playwright whose Chromium is installed: the one of this service. */
  playwright: string;
  /** The image to start from; by default the platform's own. */
  image?: string | undefined;
  /** After how many days the snapshot expires; 0: never. By default, the platform decides. */
  expireDays?: number | undefined;
  /** Reports each step that begins. */
  onStep: (step: string) => void;
  /** Credentials, and the way to the API. By default, the SDK finds them itself. */
  connection?: BoxConnection;
};

/** A snapshot from which sessions' boxes start. `expiresAt` is undefined if it does not expire. */
export type MadeSnapshot = { id: string; expiresAt: Date | undefined; record: ImageRecord };

const BUILD_TIMEOUT_MS = 30 * 60_000;
const DAY_MS = 86_400_000;
/** How much of the end of a failed command's output is shown. */
const SHOWN_CHARACTERS = 2_000;

/**
 * Makes the snapshot from which the boxes of sessions start: a Vercel Sandbox with Chromium, its libraries and bubblewrap.
 * Tries out what was installed, and stores the results in the image. Deletes the box in which the snapshot was made.
 *
 * @throws Error with a readable message if a step fails; no box and no snapshot is left then.
 */
export async function makeSnapshot(options: SnapshotOptions): Promise<MadeSnapshot> {
  const { playwright, image, expireDays, onStep, connection } = options;
  const { Sandbox } = await loadSdk();
  onStep("Creating a Vercel Sandbox");
  const box = await Sandbox.create({
    ...connection,
    ...(image !== undefined && { image }),
    timeout: BUILD_TIMEOUT_MS,
    persistent: false,
  });
  try {
    for (const { step, ...command } of installSteps(playwright, box.cwd)) {
      onStep(step);
      await run(box, step, command);
    }
    onStep("Installing the browser host");
    await installBoxProgram(box).catch((error: unknown) => {
      throw new Error(`Installing the browser host failed with ${errorText(error)}`);
    });
    onStep("Trying out Chromium and bubblewrap");
    const chromium = await tryChromium(box);
    const bubblewrap = await probeBubblewrap(box);
    const record = { madeAt: new Date().toISOString(), playwright, chromium, bubblewrap };
    await writeImageRecord(box, record);
    onStep("Taking the snapshot");
    const snapshot = await box.snapshot(expireDays === undefined ? {} : { expiration: expireDays * DAY_MS });
    // The snapshot stays, because its deletion is not asked for.
    await box.delete();
    return { id: snapshot.snapshotId, expiresAt: snapshot.expiresAt, record };
  } catch (error) {
    // The error of the step is the one to report; a box that stays is stopped at its deadline.
    await box.delete({ deleteOrphanSnapshots: true }).catch(() => {});
    throw error;
  }
}

type Command = { script: string; isRoot?: boolean; env?: Record<string, string> };

/** Where Playwright installs Chromium. */
const browsersIn = (home: string) => `${home}/.browsers`;

function installSteps(playwright: string, home: string): (Command & { step: string })[] {
  const cli = `npx --yes playwright@${playwright}`;
  const noQuestions = { DEBIAN_FRONTEND: "noninteractive" };
  return [
    {
      step: "Installing bubblewrap",
      script: "apt-get update && apt-get install -y --no-install-recommends bubblewrap util-linux",
      isRoot: true,
      env: noQuestions,
    },
    {
      step: "Installing the libraries of Chromium",
      script: `${cli} install-deps chromium-headless-shell && apt-get clean`,
      isRoot: true,
      env: noQuestions,
    },
    {
      step: "Installing Chromium",
      script: `${cli} install chromium-headless-shell && rm -rf -- "$HOME/.npm"`,
      env: { PLAYWRIGHT_BROWSERS_PATH: browsersIn(home) },
    },
  ];
}

/**
 * Shell script that finds Chromium in folder `$1`, starts it on an empty page, and prints its path, its version, and
 * whether it started with its own sandbox. Fails with Chromium's output if it does not start without that sandbox either.
 */
const TRY_CHROMIUM = `chromium=$(find "$1" -type f -name 'chrome-headless-shell' -perm -u+x | head -n 1)
[ -n "$chromium" ] || { echo "no chrome-headless-shell in $1" >&2; exit 1; }
load() { timeout 60 "$chromium" --headless "$@" --dump-dom about:blank; }
sandbox=yes; load > /dev/null 2>&1 || {
  sandbox=no; errors=$(load --no-sandbox 2>&1 > /dev/null) || { echo "$errors"; exit 1; }
}
printf '%s\\n%s\\n%s\\n' "$chromium" "$("$chromium" --version 2> /dev/null)" "$sandbox"`;

async function tryChromium(box: VercelBox): Promise<ImageRecord["chromium"]> {
  const command = { script: TRY_CHROMIUM, args: [browsersIn(box.cwd)] };
  const output = await run(box, "Trying out Chromium", command);
  const [path = "", version = "", sandbox] = output.split("\n");
  return { path: posix.relative(box.cwd, path), version: version.trim(), hasSandbox: sandbox === "yes" };
}

/** Runs a shell script in the box. @returns the end of its output. @throws Error that names the step if it fails. */
async function run(
  box: VercelBox,
  step: string,
  { script, args = [], isRoot = false, env = {} }: Command & { args?: string[] },
): Promise<string> {
  const command = await box.runCommand({
    cmd: "bash",
    args: ["-c", script, "bash", ...args],
    sudo: isRoot,
    env,
    detached: true,
  });
  let output = "";
  for await (const { data } of command.logs()) output = (output + data).slice(-SHOWN_CHARACTERS);
  const { exitCode } = await command.wait();
  if (exitCode !== 0) throw new Error(`${step} failed with exit code ${exitCode}:\n${output.trim()}`);
  return output;
}
