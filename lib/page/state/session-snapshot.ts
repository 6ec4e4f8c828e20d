import type { ShareRole, Source } from "#db/schema/unions.ts";
import type { BrowserRecord } from "#lib/browser/browser-service.ts";
import type {
  AgentView,
  ImportSummary,
  LandingPage,
  Preview,
  QueuedMessage,
  ReportSummary,
} from "#lib/client/wire.ts";
import type {
  Deliverable,
  Plan,
  Requirement,
  TestRun,
  TranscriptMessage,
  WaitingOn,
} from "#lib/events/event.ts";
import type {
  AnnotationView,
  CompactionView,
  ElicitationView,
  MissingToolsView,
  QuestionView,
  RunView,
  StopView,
  ToolCallView,
  VariantView,
} from "./view-types.ts";

/** What the page of a sub-agent shows about the sub-agent. */
type AgentFacts = {
  name: string;
  objective: string;
  browser: AgentView["browser"];
  /** The session that delegated to the sub-agent. `path` is null if the visitor opened the sub-agent's own link. */
  parent: { title: string; path: string | null };
};

/**
 * Everything that the session page needs for its first render. `lastSeq` is the `seq` of the newest event in the
 * snapshot.
 */
export type SessionSnapshot = {
  session: {
    id: string;
    title: string;
    createdAt: string;
    source: Source;
    targetUrl: string | null;
    isStructured: boolean;
    /** The JSON Schema that the caller sent, if the session is structured. */
    outputSchema: unknown;
    hasBrowser: boolean;
    /** Whether the session can have a workspace. */
    hasWorkspace: boolean;
    /** Whether the agent may delegate to sub-agents. */
    mayDelegate: boolean;
    /** Whether turns that no person started lack tools of the session. */
    excludesTools: boolean;
    /** Whether calls of some tools wait for a person's approval, or sub-agents can hand their browsers over. */
    asksApproval: boolean;
  };
  /** The sub-agent whose session this is; null for a session without a parent. */
  agent: AgentFacts | null;
  /** Every sub-agent below the session. Parents come before their children. */
  agents: AgentView[];
  role: ShareRole;
  /** The model. If `isDemo` is true, the page shows that the model is the built-in demo model. */
  model: { label: string; isDemo: boolean };
  turnState: "idle" | "running" | "compacting";
  runs: RunView[];
  messages: TranscriptMessage[];
  /** Whether the transcript has messages before `messages`. */
  hasEarlier: boolean;
  toolCalls: ToolCallView[];
  compactions: CompactionView[];
  missingTools: MissingToolsView[];
  queue: QueuedMessage[];
  /** The ids of the requests whose message steered a running turn. */
  steers: string[];
  browser: BrowserRecord;
  /** The position of the session in the queue for a browser; 1 is the next. Null while the session does not wait. */
  browserPosition: number | null;
  /** When the last picture of the page was taken; null if there is no picture. */
  pictureTakenAt: string | null;
  annotations: AnnotationView[];
  /** The open questions of the agent, oldest first. */
  elicitations: ElicitationView[];
  /** What the running turn waits for; null while it does not wait. */
  waitingOn: WaitingOn | null;
  /** The questions that the agent asked, oldest first, with their answers. */
  questions: QuestionView[];
  /** Who stopped a run, by the id of the run. A run that the service itself ended is not in it. */
  stops: Readonly<Record<string, StopView>>;
  deliverables: Deliverable[];
  /** The variants of the session, oldest first; empty on the page of a sub-agent. */
  variants: VariantView[];
  previews: Preview[];
  /**
   * The newest version of each report. The report that was published last comes first. Empty on the page of a
   * sub-agent.
   */
  reports: ReportSummary[];
  /** The newest test runs of the session, newest first; empty on the page of a sub-agent. */
  testRuns: TestRun[];
  /** The plan of the session; empty on the page of a sub-agent. */
  plan: Plan;
  /** The requirements of the session; empty on the page of a sub-agent. */
  requirements: Requirement[];
  /** The landing pages that the agent deployed, oldest first; empty on the page of a sub-agent. */
  pages: LandingPage[];
  /** Whether the workspace was in use when the snapshot was taken. */
  hasFiles: boolean;
  /** Documents that were imported into the session, newest first. */
  imports: ImportSummary[];
  lastSeq: number;
  /** Whether the visitor opened the session's own link. Only that link allows managing the share links. */
  hasOwnLink: boolean;
  /** Same-origin paths that the page uses. */
  paths: {
    live: string;
    actions: string;
    artifacts: string;
    /** The files of the workspace are listed here and served below this path. */
    files: string;
    messages: string;
    picture: string;
    /** The list of the recording's pictures. Each picture is at this path, followed by `/` and its id. */
    recording: string;
    variants: string;
    /** The results of each test run are served below this path. */
    tests: string;
    /** The plan and the requirements are served below this path. */
    planning: string;
    imports: string;
    skills: string;
    /** What waits for a person in the session of the page's URL and its sub-agents is listed and settled here. */
    inbox: string;
    /** The page of a sub-agent is at this path, followed by `/` and the id of the sub-agent. */
    agents: string;
  };
};
