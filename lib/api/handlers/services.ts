import type { AnnotationLimits } from "#lib/annotation/annotation-store.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { RunningHost } from "#lib/browser-host/service/host-status-store.ts";
import type { HttpRefusal } from "#lib/callback/endpoint/refuse-http.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { LandingDeps } from "#lib/landing/landing-deps.ts";
import type { Logins } from "#lib/logins/logins.ts";
import type { AddressRule } from "#lib/net/address/address-rule.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { PlanningDeps } from "#lib/planning/planning-deps.ts";
import type { PortingDeps } from "#lib/porting/porting-deps.ts";
import type { PageServer } from "#lib/publication/landing/page-server.ts";
import type { ScriptServer } from "#lib/publication/script-server.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { DelegationCaps } from "#lib/session/delegation.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { AnswerLinks } from "#lib/session/inbox/answer-link.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";
import type { OwnerQuota } from "#lib/session/quota/owner-quota.ts";
import type { RemovalOutcome } from "#lib/session/removal/remove-session.ts";
import type { FreshRuns } from "#lib/session/run/fresh-runs.ts";
import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { TranscriptReader } from "#lib/session/transcript/transcript.ts";
import type { SessionSkills } from "#lib/skills/session-skills.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import type { MissingTools } from "#lib/tools/deployment-tools.ts";
import type { Tool } from "#lib/tools/tool.ts";
import type { Spending } from "#lib/turn/run/spending.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";
import type { ExportKeyOf } from "#lib/variant/formats/export-key.ts";
import type { VariantToolServices } from "#lib/variant/variants-deps.ts";
import type { AccessWatch } from "../auth/access-watch.ts";
import type { AuthServices } from "../auth/auth-services.ts";
import type { BodyReader } from "../http/body/body-reader.ts";
import type { RateLimiter } from "../http/rates/rate-limiter.ts";

/** Decides whether the service accepts the JSON Schema of a caller. */
type SchemaAdmission = {
  admitSchema: (
    schema: unknown,
    ownerId: string,
  ) => Promise<{ ok: true } | { ok: false; error: string; isBusy?: true }>;
};

export type HealthCheck = { ok: boolean; detail: string };

/** What this deployment can do, for the readiness check and the agent status. */
type Deployment = {
  missingTools: MissingTools[];
  /** How the agent's scripts are confined, or why they are not there. */
  scripts: string;
  listHosts: () => Promise<RunningHost[]>;
};

/** The services that operations use. The service's container creates them once. */
export type ApiServices = AuthServices & {
  /** Loads what a visitor with this access sees of a session. Undefined if the session was removed. */
  readSnapshot: (sessionId: string, access: ShareAccess) => Promise<SessionSnapshot | undefined>;
  log: EventLog;
  jobs: JobSender;
  /**
   * The first runs of sessions that this process has just stored. The executors of this process get these runs from
   * memory, without a database query.
   */
  freshRuns: FreshRuns;
  logins: Logins;
  /** The links that settle one item of the inbox. */
  answers: AnswerLinks;
  access: AccessWatch;
  rates: RateLimiter;
  bodies: BodyReader;
  turn: TurnService;
  quota: OwnerQuota;
  spending: Pick<Spending, "readTree" | "budgetChanged" | "findOwnerExhausted">;
  browser: BrowserService;
  control: BrowserControl;
  /** Set while a submission of the annotation overlay is served. @see recordAnnotation */
  annotationKey?: string;
  evidence: EvidenceStore;
  sandbox: Pick<SandboxService, "open" | "describe" | "remove">;
  transcript: TranscriptReader;
  elicitations: Elicitations;
  rule: AddressRule;
  /** The deployment's rules for callbacks. They apply in addition to the contract. */
  callbackRules: {
    /** Minimum length of a callback secret in characters. 0 means no minimum. */
    secretLengthMin: number;
    refuseHttp: HttpRefusal;
  };
  schemas: SchemaAdmission;
  tools: readonly Tool[];
  deployment: Deployment;
  skills: SessionSkills;
  variants: VariantToolServices;
  exportKeyOf: ExportKeyOf;
  publishedScripts: ScriptServer;
  planning: PlanningDeps;
  landing: LandingDeps;
  servedPages: PageServer;
  porting: PortingDeps;
  testRuns: TestRunsDeps;
  /**
   * Issues tokens with which other agents can use a session's tools at `url`. A token ends at `expiresAt`, or earlier
   * when the session is deleted or the API key `keyId` is revoked, expires or loses the scope `sessions:write`.
   */
  builtinMcp: {
    issueToken: (sessionId: string, keyId: string) => { token: string; url: string; expiresAt: Date };
  };
  /** Notifies the live connections of a session that its queued messages have changed. */
  queueChanged: (sessionId: string) => void;
  /**
   * Removes a session with all its data. `actor` is the actor for the security log. @returns undefined if the owner has
   * no session with this id.
   */
  removeSession: (sessionId: string, ownerId: string, actor: string) => Promise<RemovalOutcome | undefined>;
  /** Whether a caller with the source `web` may use sub-agents. The external feature flag decides. */
  readSubAgentFlag: (userId: string | null) => Promise<boolean>;
  readiness: () => Promise<Record<"database" | "engine" | "browser" | "sandbox" | "model", HealthCheck>>;
  settings: {
    /** Public origin of landing pages, without a trailing slash. */
    pagesOrigin: string;
    delegation: DelegationCaps;
    annotations: AnnotationLimits;
    /** Whether the deployment excludes tools from turns that no person started. */
    excludesTools: boolean;
    firstPartyOrigins: readonly string[];
    /** Origins whose pages may show a session in a frame. */
    embedOrigins: readonly string[];
    model: { id: string; label: string; isDemo: boolean; isPriced: boolean };
  };
};
