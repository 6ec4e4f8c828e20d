import type { TestAttachment } from "#db/schema/index.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { ReportedFile } from "./read-report.ts";
import type { TestFolder } from "./test-runs-deps.ts";

const MEBIBYTE = 2 ** 20;
/** Limits on the size of one saved file, and on the size and number of all saved files of a test run. */
const FILE_BYTES_MAX = 20 * MEBIBYTE;
const RUN_BYTES_MAX = 100 * MEBIBYTE;
const RUN_FILES_MAX = 200;

/** Media types of files that the session page shows as pictures. */
const PICTURES = ["image/png", "image/jpeg", "image/webp"];
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * Creates a function that saves files of a test run as evidence. If a file cannot be read or exceeds a limit, the
 * function does not save it and returns the reason as `problem`.
 */
export function createFileStore(
  deps: { evidence: Pick<EvidenceStore, "save">; folder: TestFolder },
  owner: { sessionId: string; runId: string | null },
) {
  let bytesLeft = RUN_BYTES_MAX;
  let filesLeft = RUN_FILES_MAX;

  return async function keep(file: ReportedFile, title: string): Promise<TestAttachment> {
    const { name, mediaType: claimed, path } = file;
    const mediaType = MEDIA_TYPE.test(claimed) ? claimed : "application/octet-stream";
    const refuse = (problem: string, sizeBytes = 0): TestAttachment => ({
      name,
      mediaType,
      sizeBytes,
      evidenceId: null,
      problem,
    });
    if (filesLeft === 0) return refuse(`a test run keeps at most ${RUN_FILES_MAX} files`);
    try {
      // Reads only the size first, because a forged report can name the same large file thousands of times.
      const { totalBytes: claimedBytes } = await deps.folder.readFile(path, 0);
      if (claimedBytes > FILE_BYTES_MAX)
        return refuse(`a kept file has at most ${FILE_BYTES_MAX / MEBIBYTE} MiB`, claimedBytes);
      if (claimedBytes > bytesLeft)
        return refuse(`a test run keeps at most ${RUN_BYTES_MAX / MEBIBYTE} MiB of files`, claimedBytes);
      const { bytes } = await deps.folder.readFile(path, claimedBytes);
      const totalBytes = bytes.byteLength;
      bytesLeft -= totalBytes;
      filesLeft -= 1;
      const kind = PICTURES.includes(mediaType) ? "screenshot" : "file";
      const saved = await deps.evidence.save({
        ...owner,
        kind,
        title: beginningOf(`${title}: ${name}`, 300),
        url: null,
        mediaType,
        bytes,
      });
      return { name, mediaType, sizeBytes: totalBytes, evidenceId: saved.id, problem: null };
    } catch (error) {
      if (isWorkspaceError(error)) return refuse(error.message);
      throw error;
    }
  };
}
