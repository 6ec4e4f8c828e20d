import type { ChangedFile, TestPlace, Workspace, WorkspaceFile } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError, WorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { countOf } from "#lib/text/count-of.ts";
import { PROGRESS_PATH, REPORT_PATH, RESULTS_FOLDER } from "./runner-program.ts";

const MEBIBYTE = 2 ** 20;
/** The largest file that is copied: what a workspace accepts in one write, and less than a message of a link. */
const FILE_BYTES_MAX = 50 * MEBIBYTE;
/** What is sent to a browser host before a test run. */
const SENT_BYTES_MAX = 256 * MEBIBYTE;
const SENT_FILES_MAX = 10_000;
/** What is brought back after a test run. */
const TAKEN_BYTES_MAX = 100 * MEBIBYTE;
const TAKEN_FILES_MAX = 1_000;
/** What one message has at least, unless it is the last one. */
const MESSAGE_BYTES = 4 * MEBIBYTE;
const MESSAGE_FILES = 200;

/**
 * Sends the files of a workspace to the place of a test run, except folders with the name of the runner's output. Links
 * and empty folders are left out.
 *
 * @throws WorkspaceError if there are too many files or too many bytes; the reason of the signal.
 */
export async function sendFiles(
  workspace: Workspace,
  place: Pick<TestPlace, "add">,
  signal: AbortSignal,
): Promise<void> {
  const entries = await workspace.list("", {
    recursive: true,
    // Folders are entries, too.
    limit: 2 * SENT_FILES_MAX,
    closed: [RESULTS_FOLDER],
  });
  const files = entries.filter(({ type }) => type === "file");
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const large = files.find(({ sizeBytes }) => sizeBytes > FILE_BYTES_MAX);
  if (entries.length === 2 * SENT_FILES_MAX || files.length > SENT_FILES_MAX)
    throw new WorkspaceError(`${WHY} the workspace may have at most ${SENT_FILES_MAX} files`);
  if (bytes > SENT_BYTES_MAX)
    throw new WorkspaceError(`${WHY} the workspace may have at most ${SENT_BYTES_MAX / MEBIBYTE} MiB`);
  if (large)
    throw new WorkspaceError(
      `${WHY} a file may have at most ${FILE_BYTES_MAX / MEBIBYTE} MiB, and ${large.path} has more`,
    );
  // So that the results of an earlier attempt are not mistaken for those of this one.
  let batch: WorkspaceFile[] = [REPORT_PATH, PROGRESS_PATH].map((path) => ({
    path,
    bytes: new Uint8Array(),
  }));
  let batchBytes = 0;
  for (const { path } of files) {
    signal.throwIfAborted();
    const file = { path, bytes: (await workspace.readFile(path, FILE_BYTES_MAX)).bytes };
    batch.push(file);
    batchBytes += file.bytes.byteLength;
    if (batchBytes < MESSAGE_BYTES && batch.length < MESSAGE_FILES) continue;
    await place.add(batch);
    batch = [];
    batchBytes = 0;
  }
  if (batch.length > 0) await place.add(batch);
}

/** Where files of the tests are written. */
type FileWriter = { writeFile: (path: string, bytes: Uint8Array) => Promise<unknown> };

const WHY = "tests run on another machine than the workspace, so that";

/**
 * Brings back the files that the tests have created or changed, such as pictures of `toHaveScreenshot`, the report first.
 * @returns a sentence if some of them were left at the host; otherwise null.
 */
export async function takeFilesBack(
  place: Pick<TestPlace, "listChanged" | "readFile">,
  workspace: FileWriter,
): Promise<string | null> {
  const changed = await place.listChanged();
  const ordered = [REPORT_PATH, PROGRESS_PATH].flatMap((path) =>
    changed.filter((each) => each.path === path),
  );
  ordered.push(...changed.filter((each) => !ordered.includes(each)));
  let bytesLeft = TAKEN_BYTES_MAX;
  let taken = 0;
  let problem: string | undefined;
  for (const file of ordered) {
    if (taken >= TAKEN_FILES_MAX) break;
    const reason = await takeBack(place, workspace, file, bytesLeft);
    problem ??= reason;
    if (reason !== undefined) continue;
    bytesLeft -= file.sizeBytes;
    taken += 1;
  }
  const left = ordered.length - taken;
  if (left === 0) return null;
  const why = problem ?? `at most ${TAKEN_FILES_MAX} files are brought back`;
  return `${countOf(left, "file")} of the tests ${left === 1 ? "is" : "are"} not in the workspace: ${why}.`;
}

/** Brings one file back. @returns why it was left. */
async function takeBack(
  place: Pick<TestPlace, "readFile">,
  workspace: FileWriter,
  { path, sizeBytes }: ChangedFile,
  bytesLeft: number,
): Promise<string | undefined> {
  if (sizeBytes > FILE_BYTES_MAX) return `${path} has more than ${FILE_BYTES_MAX / MEBIBYTE} MiB`;
  if (sizeBytes > bytesLeft) return `at most ${TAKEN_BYTES_MAX / MEBIBYTE} MiB are brought back`;
  try {
    const { bytes } = await place.readFile(path, sizeBytes);
    await workspace.writeFile(path, bytes);
    return undefined;
  } catch (error) {
    if (isWorkspaceError(error)) return error.message;
    throw error;
  }
}
