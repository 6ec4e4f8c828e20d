import { stat } from "node:fs/promises";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { readMemory, readProcessTree, readUnnamedBytes, readWrittenBytes } from "./process-tree.ts";
import type { CommandQuota } from "./workspace-quota.ts";

/** A repeated check of a running command by its process id. If `check` returns a sentence, the command is killed. */
export type CommandWatch = { everyMs: number; check: (pid: number) => Promise<string | undefined> };

const inMebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;

/**
 * Returns the checks that keep a running command or test run within its limits: its processes, the files of its
 * workspace at `root`, and removed files that it still has open.
 *
 * @param limits the limits of this run.
 */
export function watchCommand(root: string, quota: CommandQuota, limits: SandboxLimits): CommandWatch[] {
  const { commandMemoryBytesMax, commandWriteBytesMax, measureEveryMs, watchEveryMs } = limits;
  /** The bytes that the command had written when the files were last measured. */
  let writtenAtCheck = 0;
  let written = 0;

  async function checkFiles(): Promise<string | undefined> {
    writtenAtCheck = written;
    return quota.check();
  }
  async function checkProcesses(pid: number): Promise<string | undefined> {
    const pids = await readProcessTree(pid);
    const { onDisk, inMemory } = await readUnnamedBytes(pids, (await stat(root)).dev);
    if (inMemory + (await readMemory(pids, commandMemoryBytesMax - inMemory)) > commandMemoryBytesMax)
      return `ended: the processes of the command used more than ${inMebibytes(commandMemoryBytesMax)} of memory together`;
    written = await readWrittenBytes(pids);
    if (written > commandWriteBytesMax)
      return `ended: the command wrote more than ${inMebibytes(commandWriteBytesMax)} to disk`;
    const excess = onDisk > 0 ? quota.findExcess(onDisk) : undefined;
    if (excess !== undefined)
      return `ended: ${excess} (${onDisk} bytes are in files that were removed while open)`;
    // A fast writer would exceed the quota long before the next measurement, so the files are measured at once.
    return quota.findExcess(written - writtenAtCheck) === undefined ? undefined : checkFiles();
  }
  return [
    { everyMs: quota.isRemovalOnly ? watchEveryMs : measureEveryMs, check: checkFiles },
    { everyMs: watchEveryMs, check: checkProcesses },
  ];
}
