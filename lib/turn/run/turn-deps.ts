import type { Database } from "#db/client.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { McpClient } from "#lib/mcp-client/create-mcp-client.ts";
import type { ModelAccess } from "#lib/model/model-access.ts";
import type { PlanGate } from "#lib/planning/plan-gate.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";
import type { FreshRuns } from "#lib/session/run/fresh-runs.ts";
import type { SessionSkills } from "#lib/skills/session-skills.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import type { Tool } from "#lib/tools/tool.ts";
import type { Spending } from "./spending.ts";
import type { StopRegistry } from "./stop-registry.ts";

type TurnSettings = {
  /** How many model calls a turn may make (`AGENT_MAX_STEPS`). */
  maxSteps: number;
  /** Delay before the first retry of a failed run, in milliseconds (`AGENT_RETRY_BASE_MS`). */
  retryBaseMs: number;
  /** How long an executor plays a run, in milliseconds. It then hands the run back to the engine, between two steps. */
  playBudgetMs: number;
  /**
   * How long an executor may play a run at most, in milliseconds. A step that may take longer than the rest of this time
   * is left to the next executor.
   */
  playLimitMs: number;
  /** URL of the demo page, which the instructions name if the session has no other page. */
  demoUrl: string;
  /** Public origin of the service, without a trailing slash. */
  baseUrl: string;
  /** Public origin of landing pages, without a trailing slash. */
  pagesOrigin: string;
  /** Tools that no turn has unless a person started it, in any session (`EXTERNAL_TURN_EXCLUDE`). */
  externalTurnExclude: readonly string[];
};

/** The dependencies of the turn engine; the container creates them once. */
export type TurnDeps = {
  db: Database;
  log: EventLog;
  jobs: JobSender;
  /** Caches the first runs of sessions that this process has just created. */
  freshRuns: Pick<FreshRuns, "consume">;
  model: ModelAccess;
  /** Every tool that this deployment has, by name. */
  tools: ReadonlyMap<string, Tool>;
  skills: Pick<SessionSkills, "describe">;
  /** Stores what browsers have reported, so that the end of a turn reads it. */
  browser: Pick<BrowserService, "settle">;
  /** Looks at the page before the first model call of a turn. */
  firstLook: PageTools["firstLook"];
  evidence: EvidenceStore;
  mcp: McpClient;
  elicitations: Pick<Elicitations, "abandon">;
  /** Tells whether a person has control of a session's browser. */
  control: Pick<BrowserControl, "holderOf">;
  /** Refuses calls that change something until a person has agreed to the plan. */
  planGate: PlanGate;
  /** Counts what runs spend, and checks their budgets. */
  spending: Spending;
  stops: StopRegistry;
  /** Stops the live sub-agents of a session and all their descendants, and waits a moment for them to end. */
  cancelChildren: (sessionId: string) => Promise<void>;
  logger: Logger;
  settings: TurnSettings;
};
