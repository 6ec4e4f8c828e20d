import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const DISK_BYTES = 1_500 * 1024 * 1024;

/**
 * A Perl script that calls the ioctl FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH. Node cannot call an ioctl, and
 * every Debian has Perl.
 */
const SHUTDOWN =
  'open(F, "<", $ARGV[0]) or die $!; my $flags = pack("L", 2); ioctl(F, 0x8004587d, $flags) or die $!';

/** Returns the reason why this machine cannot simulate a power failure; undefined if the machine can. */
export async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can mount a disk";
  for (const program of ["mkfs.ext4", "mount", "losetup", "perl"])
    if (!(await run("sh", ["-c", `command -v ${program}`]).catch(() => undefined)))
      return `${program} is missing`;
  return undefined;
}

/**
 * Creates an ext4 file system in an image file, and mounts it. `pullPlug` shuts it down without a flush: after the next
 * mount, it contains only what was on the disk before.
 */
export async function createDisk() {
  const folder = await mkdtemp(join(tmpdir(), "faults-plug-"));
  const image = join(folder, "disk.img");
  const mountPoint = join(folder, "mounted");
  await writeFile(image, "");
  await truncate(image, DISK_BYTES);
  await mkdir(mountPoint);
  await run("mkfs.ext4", ["-q", "-F", image]);
  const mount = async () => {
    await run("mount", ["-o", "loop", image, mountPoint]);
  };
  const isAttached = async () => (await run("losetup", ["-j", image])).stdout !== "";
  const unmount = async () => {
    // Unmounting is retried, because a process that was just killed may still have files open.
    await retry("unmount the disk", () =>
      run("umount", [mountPoint]).then(
        () => true,
        () => false,
      ),
    );
    // Sandboxes of other services on this machine may have a copy of the mount in their mount namespaces. As long as one
    // exists, the next mount would get the file system that was shut down.
    await retry("detach the disk", async () => !(await isAttached()));
  };
  await mount();
  return {
    dataDir: join(mountPoint, "data"),
    mount,
    unmount,
    pullPlug: () => run("perl", ["-e", SHUTDOWN, mountPoint]),
    async remove() {
      await unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Repeats a step until it returns true. @throws Error if it has not after two minutes. */
async function retry(what: string, step: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await step()); tries++) {
    if (tries === 600) throw new Error(`could not ${what}`);
    await sleep(200);
  }
}
