import { createLocalSandboxes, type LocalSandboxOptions } from "./local/create-local-sandboxes.ts";
import { sandboxLimits } from "./sandbox-limits.ts";
import type { SandboxService } from "./sandbox-service.ts";
import type { VercelBoxes } from "./vercel/vercel-box.ts";
import { createVercelSandboxes } from "./vercel/vercel-sandboxes.ts";
import { WorkspaceError } from "./workspace-error.ts";

type SandboxOptions = LocalSandboxOptions & {
  /** The boxes of Vercel Sandbox, for the kind `vercel`. */
  boxes?: VercelBoxes | undefined;
};

/** Creates the sandboxes of this deployment. Checks once, at their creation, whether commands can be confined. */
export async function createSandboxService(options: SandboxOptions): Promise<SandboxService> {
  switch (options.kind) {
    case "none":
      return createNoSandbox();
    case "vercel":
      if (!options.boxes) throw new Error("the sandboxes of Vercel need boxes");
      return createVercelSandboxes({
        boxes: options.boxes,
        limits: { ...sandboxLimits, ...options.limits },
        onStartupStatus: options.onStartupStatus,
        readStartupStatus: options.readStartupStatus ?? (async () => undefined),
      });
    case "local":
    case "unconfined":
      return createLocalSandboxes(options);
  }
}

function createNoSandbox(): SandboxService {
  const detail = "this deployment has no sandbox (SANDBOX=none)";
  return {
    open: async () => {
      throw new WorkspaceError(detail);
    },
    describe: () => ({ kind: "none", canRunCommands: false, detail, isolation: "no commands run" }),
    remove: async () => {},
    close: async () => {},
  };
}
