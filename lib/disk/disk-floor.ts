import { statfs } from "node:fs/promises";

/** How many more files a disk must be able to hold. */
const FREE_FILES_MIN = 1_000;

/** Thrown when the disk has too little free space for a write. The message is a sentence without a path. */
export class DiskFullError extends Error {}

/**
 * The free space that must stay on the disk of a folder. Without it, one session could fill the disk of the database
 * and of all other sessions.
 */
export type DiskFloor = {
  /** Returns a sentence if the disk would have less free space after a write of `bytes`; undefined otherwise. */
  findProblem: (bytes?: number) => Promise<string | undefined>;
  /** @throws DiskFullError with this sentence. */
  check: (bytes?: number) => Promise<void>;
};

/** Creates the floor for the disk of `folder`, which must exist. @param freeBytesMin 0: no floor. */
export function createDiskFloor(folder: string, freeBytesMin: number): DiskFloor {
  async function findProblem(bytes = 0): Promise<string | undefined> {
    if (freeBytesMin === 0) return undefined;
    const { bavail, bsize, files, ffree } = await statfs(folder);
    const free = bavail * bsize;
    if (free - bytes < freeBytesMin)
      return `the service's disk has ${toMebibytes(free)} MiB free, and ${toMebibytes(freeBytesMin)} MiB must stay free; nothing can be written until there is room`;
    // Some file systems have no fixed number of files, and report 0.
    if (files > 0 && ffree < FREE_FILES_MIN)
      return `the service's disk has room for only ${ffree} more files; nothing can be written until there is room`;
    return undefined;
  }
  return {
    findProblem,
    async check(bytes) {
      const problem = await findProblem(bytes);
      if (problem !== undefined) throw new DiskFullError(problem);
    },
  };
}

const toMebibytes = (bytes: number) => Math.floor(bytes / 2 ** 20);
