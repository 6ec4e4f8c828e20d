import type { Logger } from "pino";
import type { AgentsDeps } from "#lib/agents/agents-deps.ts";
import { agentTools } from "#lib/agents/tools/index.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import { createBrowserService } from "#lib/browser/create-browser-service.ts";
import type { OpenedBrowsers } from "#lib/browser-host/service/open-hosted-browsers.ts";
import type { DiskFloor } from "#lib/disk/disk-floor.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import type { FoundGroups } from "#lib/isolation/control-groups.ts";
import { deployLandingPage } from "#lib/landing/deploy-landing-page.ts";
import type { LandingDeps } from "#lib/landing/landing-deps.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createPlanGate } from "#lib/planning/plan-gate.ts";
import type { PlanningDeps } from "#lib/planning/planning-deps.ts";
import { planningTools } from "#lib/planning/tools/index.ts";
import type { PortingDeps } from "#lib/porting/porting-deps.ts";
import { importLegacySession } from "#lib/porting/tools/import-legacy-session.ts";
import { createPageServer } from "#lib/publication/landing/page-server.ts";
import { createScriptServer } from "#lib/publication/script-server.ts";
import { cite } from "#lib/receipts/tools/cite.ts";
import type { ReportsDeps } from "#lib/reports/publish-report.ts";
import { createSandboxService } from "#lib/sandbox/create-sandbox-service.ts";
import { createVercelBoxes } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import { createHandovers } from "#lib/session/inbox/handovers.ts";
import { createWorkspaceSizes } from "#lib/session/quota/workspace-sizes.ts";
import { readStartupStatus, setStartupStatus } from "#lib/session/store/session-store.ts";
import { createTranscriptReader } from "#lib/session/transcript/transcript.ts";
import { createSkillCatalogue } from "#lib/skills/catalogue/skill-catalogue.ts";
import { createSessionSkills } from "#lib/skills/session-skills.ts";
import { skillTools } from "#lib/skills/tools/index.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import { testTools } from "#lib/test-runs/tools/index.ts";
import { annotationTools } from "#lib/tools/annotations/annotation-tools.ts";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { browserTools } from "#lib/tools/browser/index.ts";
import { createScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { divideTools } from "#lib/tools/deployment-tools.ts";
import { peopleTools } from "#lib/tools/questions/index.ts";
import { publishQaReport } from "#lib/tools/reports/publish-qa-report.ts";
import { listIneffective } from "#lib/tools/tool-policy.ts";
import { transcriptTools } from "#lib/tools/transcript/transcript-tools.ts";
import { workspaceTools } from "#lib/tools/workspace/workspace-tools.ts";
import { findSelectorProblem } from "#lib/variant/compile/check-selector.ts";
import { readTestedVariants } from "#lib/variant/read-tested-variants.ts";
import { refreshShown } from "#lib/variant/shown-variant.ts";
import { variantTools } from "#lib/variant/tools/index.ts";
import { variantHelpers } from "#lib/variant/tools/script-helpers.ts";
import type { VariantsDeps } from "#lib/variant/variants-deps.ts";
import { type Env, hasBoxedBrowsers } from "./env.ts";
import { findLacks } from "./find-lacks.ts";
import { type OpenBrowsersDeps, openBrowsers } from "./open-browsers.ts";
import type { Storage } from "./open-storage.ts";

type ToolingDeps = Omit<OpenBrowsersDeps, "runners"> & {
  fetch: GuardedFetch;
  elicitations: Elicitations;
  /** The free space that must stay on the disk of the data folder. */
  disk: DiskFloor;
  runners: Pick<Runners, "sandbox" | "scripts" | "boxes">;
  agents: AgentsDeps;
  /** Sends jobs to the durable engine, which is created later. */
  jobs: TestRunsDeps["jobs"];
};

type RunnersDeps = Pick<ToolingDeps, "env" | "logger" | "disk" | "isServerless"> & {
  /** Search path for the programs that confine commands and scripts; the system's folders by default. */
  launcherPath: string | undefined;
  /** The control groups of this machine; undefined if the sandbox uses none. */
  groups: FoundGroups | undefined;
  /** The storage, which may still be opening. */
  storage: Promise<Storage>;
};

/**
 * The sandbox and the script runner of all sessions. `sizes` has the sizes of workspaces; undefined if owners have no
 * limit of stored bytes.
 */
type Runners = Awaited<ReturnType<typeof createRunners>>;

/**
 * Creates the sandbox and the script runner. Both first try how this machine can confine processes. They need the
 * storage only later, so the storage can be opened meanwhile.
 */
export async function createRunners(deps: RunnersDeps) {
  const { env, logger, groups, disk, isServerless, storage, launcherPath } = deps;
  const hasBoxedHosts = isServerless && hasBoxedBrowsers(env);
  const boxes =
    env.SANDBOX === "vercel"
      ? createVercelBoxes({
          source: { snapshotId: env.VERCEL_SANDBOX_SNAPSHOT, image: env.VERCEL_SANDBOX_IMAGE },
          network: hasBoxedHosts ? "public" : "none",
          onResume: async (sessionId) => logger.info({ sessionId }, "a Vercel Sandbox was resumed"),
        })
      : undefined;
  const sizesReady =
    env.OWNER_STORED_MIB > 0 ? storage.then(({ db }) => createWorkspaceSizes(db, logger)) : undefined;
  const [sandbox, scripts, sizes] = await Promise.all([
    createSandboxService({
      kind: env.SANDBOX,
      boxes,
      dataDir: env.DATA_DIR,
      disk,
      logger,
      ...(launcherPath !== undefined && { launcherPath }),
      ...(groups && { findGroups: async () => groups }),
      onStartupStatus: async (sessionId, status) => setStartupStatus((await storage).db, sessionId, status),
      readStartupStatus: async (sessionId) => readStartupStatus((await storage).db, sessionId),
      onSize:
        sizesReady && ((sessionId, bytes) => void sizesReady.then(({ note }) => note(sessionId, bytes))),
    }),
    // A function with a provider's browser runs scripts itself. Otherwise the host does, and this runner only tells whether
    // it can. A host in a session's machine tells that itself.
    hasBoxedHosts
      ? undefined
      : createScriptRunner({
          logger,
          launcherPath,
          isWarm: false,
          isUnconfinedAllowed: env.SANDBOX === "unconfined",
        }),
    sizesReady,
  ]);
  return { sandbox, scripts, sizes, boxes: hasBoxedHosts ? boxes : undefined };
}

/** Creates the browsers, all tools of the agent, and the services that the tools use. */
export async function createTooling(deps: ToolingDeps) {
  const { env, logger, storage, fetch, elicitations } = deps;
  const { db, log, dataDir } = storage;
  const { disk } = deps;
  const evidence = createEvidenceStore({ db, dataDir, isShared: !storage.isEmbedded, disk });
  const transcript = createTranscriptReader({ db });
  const { sandbox, scripts } = deps.runners;
  const opened = await openBrowsers(deps, evidence);
  const { pages } = opened;
  const browser = createBrowserService({ db, log, logger, browsers: opened.browsers });
  const { variants, publishedScripts, stopListening } = createVariants(env, storage, logger, browser, opened);
  const servedPages = createPageServer(db);
  const { baseUrl, pagesOrigin, pageBytes, importBytes } = env;
  const landing: LandingDeps = { db, log, servedPages, pagesOrigin, pageBytes };
  const compare = createPictureComparer();
  const catalogue = await createSkillCatalogue({ logger, skillsDir: env.SKILLS_DIR });
  const services = {
    pages,
    control: deps.control,
    browser,
    handovers: createHandovers({ db, log }),
    sandbox,
    fetch,
    evidence,
    transcript,
    people: elicitations,
  };
  const lacks = findLacks({ ...deps, launch: opened.launch, sandbox, scripts });
  const hasBrowsers = lacks.browser === undefined;
  const variantServices = { ...variants, hasBrowsers, hold: pages.hold };
  opened.setScriptHelpers(variantHelpers(variants));
  const reports: ReportsDeps = { db, log, evidence, readTestedVariants };
  const planning: PlanningDeps = { db, log, findSelectorProblem };
  const { owner } = storage;
  const { openTestPlace } = opened;
  const testRuns: TestRunsDeps = {
    ...{ db, log, logger, sandbox, browser, evidence, owner, openTestPlace },
    jobs: deps.jobs,
  };
  const porting: PortingDeps = { db, log, evidence, transcript, sandbox, baseUrl, pagesOrigin, importBytes };
  const all = [
    ...browserTools(services),
    ...workspaceTools(services),
    ...transcriptTools(services),
    ...peopleTools(services),
    ...variantTools(variantServices),
    publishQaReport(reports),
    ...annotationTools({ db, log }),
    ...planningTools(planning),
    deployLandingPage({ ...landing, sandbox }),
    importLegacySession(porting),
    cite,
    ...testTools(testRuns),
    ...agentTools(deps.agents),
    ...skillTools({ db, sandbox }),
  ];
  const { working: tools, missing: missingTools } = divideTools(all, lacks);
  for (const entry of missingTools) logger.info(entry, "tools that cannot work here are not offered");
  const entries = listIneffective(env.EXTERNAL_TURN_EXCLUDE, tools);
  // A misspelled name would go unnoticed otherwise.
  if (entries.length > 0) logger.warn({ entries }, "EXTERNAL_TURN_EXCLUDE has entries that exclude no tool");
  return {
    browser,
    sandbox,
    describeScripts: () => pages.describeScripts().detail,
    evidence,
    transcript,
    compare,
    variants: variantServices,
    publishedScripts,
    planning,
    planGate: createPlanGate(db),
    landing,
    servedPages,
    porting,
    testRuns,
    tools,
    missingTools,
    skills: createSessionSkills({ db, catalogue }),
    pages,
    relayToHost: opened.relay,
    firstLook: pages.firstLook,
    /** If `isFinal`, the browsers on this machine end, unless another process uses them. */
    async close(isFinal: boolean) {
      stopListening();
      await Promise.all([opened.close(isFinal), sandbox.close(), scripts?.close()]);
    },
  };
}

/**
 * Creates the dependencies of variants. The browsers of a session and of its sub-agents may run in several processes,
 * so a process that shows another variant notifies the other processes.
 */
function createVariants(
  env: Env,
  { db, log, openTopic }: Storage,
  logger: Logger,
  browser: BrowserService,
  { variantPages }: Pick<OpenedBrowsers, "variantPages">,
) {
  const topic = openTopic("variant-shown");
  const self = crypto.randomUUID();
  const publishedScripts = createScriptServer(db, [`${env.baseUrl}/demo`, `${env.ownOrigin}/demo`]);
  const variants: VariantsDeps = {
    db,
    log,
    browser,
    pages: variantPages,
    notifyShown: (rootSessionId) => topic.publish(`${self} ${rootSessionId}`),
    publishedScripts,
    baseUrl: env.baseUrl,
  };
  const stopListening = topic.subscribe(
    (text) => {
      const [from, rootSessionId = ""] = text.split(" ");
      if (from === self) return;
      refreshShown(variants, rootSessionId).catch((error: unknown) =>
        logger.warn(
          { err: error, sessionId: rootSessionId },
          "the variant in the live browser was not updated",
        ),
      );
    },
    () => {},
  );
  return { variants, publishedScripts, stopListening };
}
