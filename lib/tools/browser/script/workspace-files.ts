import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ScriptFiles } from "./script-types.ts";

/** Gives scripts access to the files of a workspace. The workspace is opened only when a script uses a file. */
export const workspaceFiles =
  (sandbox: SandboxService) =>
  (sessionId: string): ScriptFiles => ({
    async read(path, bytesMax) {
      const { bytes, totalBytes } = await (await sandbox.open(sessionId)).readFile(path, bytesMax);
      if (totalBytes > bytes.byteLength)
        throw new Error(
          `${path} is ${totalBytes} bytes; a script can use at most ${bytesMax / 2 ** 20} MiB of a file here`,
        );
      return bytes;
    },
    async write(path, bytes) {
      await (await sandbox.open(sessionId)).writeFile(path, bytes);
    },
  });
