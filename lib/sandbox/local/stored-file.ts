import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import type { ExpectedVersion, StoredFile } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";

/**
 * Describes a file. Its version has the time of the last change of the inode, which a program cannot set, so that it also
 * changes if a program writes in place.
 */
export const toStoredFile = ({ ino, size, mtimeMs, mtimeNs, ctimeNs }: BigIntStats): StoredFile => ({
  sizeBytes: Number(size),
  modifiedAtMs: Number(mtimeMs),
  version: [ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join("."),
});

/**
 * Checks that the entry at `target` is what a change expects. A link is not followed.
 * @param path as the caller wrote it.
 * @throws WorkspaceError with the reason `changed` if it is not.
 */
export async function checkExpected(
  target: Buffer,
  expected: ExpectedVersion | undefined,
  path: string,
): Promise<void> {
  if (expected === undefined) return;
  const found = await lstat(target, { bigint: true }).catch(() => undefined);
  const isAsExpected =
    expected === "absent"
      ? found === undefined
      : found !== undefined && (expected === "any" || toStoredFile(found).version === expected.version);
  if (!isAsExpected) throw changed(path, expected);
}

/** Says that a file is not the one that a change expects. */
export const changed = (path: string, expected: ExpectedVersion): WorkspaceError =>
  new WorkspaceError(
    expected === "absent"
      ? `path: ${path} exists already`
      : `path: ${path} ${expected === "any" ? "does not exist" : "was changed or removed in the meantime"}`,
    undefined,
    "changed",
  );
