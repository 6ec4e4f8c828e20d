import { describeLaunch } from "#lib/browser/host/choose-provider.ts";
import type { HostBrowsersDeps } from "#lib/browser/host/host-parts.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import type { Lacks } from "#lib/tools/deployment-tools.ts";
import type { Env } from "./env.ts";

type Deployment = {
  env: Pick<Env, "SANDBOX" | "BROWSER_HOSTS">;
  isServerless: boolean;
  launch: HostBrowsersDeps["launch"];
  sandbox: Pick<SandboxService, "describe">;
  /** Undefined if browsers and scripts run in the boxes of sessions. */
  scripts: Pick<ScriptRunner, "refusal"> | undefined;
};

/** Finds what this deployment lacks, so that some tools cannot work on it. The sentences are for callers and operators. */
export function findLacks(deployment: Deployment): Lacks {
  const { env, launch, sandbox } = deployment;
  // Browser hosts on other machines have a Chromium and bubblewrap of their own.
  const scripts = env.BROWSER_HOSTS.length > 0 ? undefined : deployment.scripts;
  const { kind, canRunCommands, detail } = sandbox.describe();
  const browser = describeLaunch(launch);
  const testing = findTestingProblem(deployment);
  return {
    ...(scripts && !browser.available && { browser: browser.detail }),
    ...(scripts?.refusal !== undefined && {
      scripts: "scripts of the agent need bubblewrap, which does not work here",
    }),
    ...(kind === "none" && { files: detail }),
    ...(!canRunCommands && { commands: detail }),
    ...(testing !== undefined && { testing }),
  };
}

function findTestingProblem(deployment: Deployment): string | undefined {
  const { env, isServerless, launch, sandbox, scripts } = deployment;
  // The hosts run the tests, each if bubblewrap works on its machine.
  if (env.BROWSER_HOSTS.length > 0) return env.SANDBOX === "none" ? sandbox.describe().detail : undefined;
  if (!scripts) return undefined;
  if (env.SANDBOX === "vercel") return "test runs need the browser host in the Vercel Sandbox of a session";
  if (isServerless) return "serverless functions have no Chromium of their own for test runs";
  if (env.SANDBOX === "unconfined") return "test runs need bubblewrap, which SANDBOX=unconfined does not use";
  if (!sandbox.describe().canRunCommands) return sandbox.describe().detail;
  if (launch.cdpUrl !== undefined)
    return "test runs need a Chromium of the service's own, and BROWSER_CDP_URL is set";
  return launch.executablePath === undefined ? describeLaunch(launch).detail : undefined;
}
