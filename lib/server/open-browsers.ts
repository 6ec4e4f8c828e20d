import type { Logger } from "pino";
import { findAgent } from "#lib/agents/agent-store.ts";
import { describeLaunch } from "#lib/browser/host/choose-provider.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { createBoxedHosts } from "#lib/browser-host/service/boxed-host.ts";
import { openHostedBrowsers } from "#lib/browser-host/service/open-hosted-browsers.ts";
import { openOwnBrowsers } from "#lib/browser-host/service/open-own-browsers.ts";
import type { ServiceHandlersDeps } from "#lib/browser-host/service/service-handlers.ts";
import { THIS_MACHINE } from "#lib/browser-host/service/this-machine.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { deriveRelayKey } from "#lib/host-link/relay-token.ts";
import type { AddressRule } from "#lib/net/address/address-rule.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import { downloadsIn } from "#lib/sandbox/store-download.ts";
import type { VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { workspaceFiles } from "#lib/tools/browser/script/workspace-files.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { createVariantScripts } from "#lib/variant/show-for-picture.ts";
import { readPageScript } from "#lib/variant/shown-variant.ts";
import type { Env } from "./env.ts";
import { findInternalUrl } from "./internal-url.ts";
import type { Storage } from "./open-storage.ts";
import { readChromiumLimits, readLaunch } from "./read-launch.ts";

export type OpenBrowsersDeps = {
  env: Env;
  logger: Logger;
  storage: Storage;
  rule: AddressRule;
  securityLog: Pick<SecurityLog, "networkRefused">;
  control: BrowserControl;
  /** Whether the service runs in serverless functions, which have no files on disk and cannot keep processes running. */
  isServerless: boolean;
  /** Receives submissions of the annotation overlay. */
  onAnnotation: ServiceHandlersDeps["onAnnotation"];
  runners: {
    sandbox: SandboxService;
    /** Undefined if browsers and scripts run in the boxes of sessions. */
    scripts: ScriptRunner | undefined;
    /** The boxes in which browsers run. Undefined if they run elsewhere. */
    boxes: VercelBoxes | undefined;
  };
};

/**
 * Opens the browsers: at browser hosts, or in this process if it is a serverless function. The functions that scripts
 * can call are set later, because they need the variants, which need the browsers.
 */
export async function openBrowsers(deps: OpenBrowsersDeps, evidence: EvidenceStore) {
  const { env, logger, storage, rule, control, isServerless, runners } = deps;
  const { db, log } = storage;
  const { sandbox, scripts, boxes } = runners;
  const launch = readLaunch(env);
  const origins = { origin: env.ownOrigin, publicOrigins: [env.baseUrl, env.pagesOrigin] };
  const scriptOrigin = new URL(env.baseUrl).origin;
  const settings = {
    idleMs: env.BROWSER_IDLE_MS,
    waitMs: env.BROWSER_WAIT_MS,
    keepSpare: env.BROWSER_SPARE === 1,
    webdriver: env.BROWSER_WEBDRIVER === "true",
    scriptOrigin,
    ownOrigin: origins,
  };
  let helpers: HostServices["scriptHelpers"] = () => ({});
  const rootOf = async (sessionId: string) => (await findAgent(db, sessionId))?.rootSessionId ?? sessionId;
  const handlers = {
    db,
    log,
    sealer: storage.sealer,
    logger,
    evidence,
    recordingBytesMax: env.RECORDING_MAX_MB * 2 ** 20,
    files: workspaceFiles(sandbox),
    variantScripts: createVariantScripts(db),
    onRequestRefused: deps.securityLog.networkRefused,
    onAnnotation: deps.onAnnotation,
    readPageScript: (sessionId: string) => readPageScript(db, sessionId),
    // Downloads are stored in the workspace of the root session, which its sub-agents share.
    downloads: async (sessionId: string) => downloadsIn(await sandbox.open(await rootOf(sessionId))),
    control,
    scriptHelpers: (call: ToolCall) => helpers(call),
  };
  const { BROWSER_MAX_LIVE: maxLive, DATA_DIR: dataDir } = env;
  const limits = readChromiumLimits(env);
  const hosted = {
    ...handlers,
    bus: storage.bus,
    settings: { ...settings, allow: env.NETWORK_ALLOW },
    machine: THIS_MACHINE,
    relay: { key: deriveRelayKey(storage.encryptionKey), url: findInternalUrl(env) },
  };
  const opened = !scripts
    ? await openHostedBrowsers({
        ...hosted,
        remote: undefined,
        local: undefined,
        ...(boxes && {
          boxed: createBoxedHosts({
            boxes,
            db,
            sealer: storage.sealer,
            logger,
            places: maxLive,
            limits,
            rootOf,
          }),
        }),
        describeScripts: () => ({
          refusal: undefined,
          detail: "in the session's machine; its host tells how",
        }),
        describeBrowser: () => BOXED_BROWSER,
      })
    : isServerless
      ? await openOwnBrowsers({
          ...handlers,
          ...settings,
          ...limits,
          launch,
          rule,
          maxLive,
          dataDir,
          scripts,
        })
      : await openHostedBrowsers({
          ...hosted,
          remote: readRemoteHosts(env),
          local: {
            launch,
            dataDir,
            maxLive,
            ...limits,
            lingerMs: env.BROWSER_HOST_LINGER_MS,
            isUnconfinedAllowed: env.SANDBOX === "unconfined",
            isWarm: settings.keepSpare,
          },
          describeScripts: () => ({ refusal: scripts.refusal, detail: scripts.describe().detail }),
          describeBrowser: () => (env.BROWSER_HOSTS.length > 0 ? NO_REMOTE_HOST : describeLaunch(launch)),
        });
  return {
    ...opened,
    launch,
    setScriptHelpers(set: HostServices["scriptHelpers"]) {
      helpers = set;
    },
  };
}

const BOXED_BROWSER = { available: true, detail: "Chromium in the machine of each session (Vercel Sandbox)" };
const NO_REMOTE_HOST = { available: false, detail: "no browser can be used" };

function readRemoteHosts({ BROWSER_HOSTS: urls, BROWSER_HOST_TOKEN: token }: Env) {
  return urls.length > 0 && token !== undefined ? { urls, token } : undefined;
}
