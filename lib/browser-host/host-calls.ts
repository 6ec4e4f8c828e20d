import type { BrowserRecords } from "#lib/browser/browser-records.ts";
import type {
  BrowserInput,
  BrowserLease,
  BrowserOpening,
  CopiedContent,
  NavigationOutcome,
  PastedItem,
  ScreencastFrame,
  ScriptPointer,
  ViewportChange,
} from "#lib/browser/browser-service.ts";
import type { ElementAnchor, SoughtElements } from "#lib/browser/overlay/locate/find-elements.ts";
import type { MarkedPart, MarkedTarget } from "#lib/browser/overlay/locate/locate-target.ts";
import type { AnnotationVerdict } from "#lib/browser/overlay/overlay-controller.ts";
import type { PageScript } from "#lib/browser/page/page-script.ts";
import type { ActionOutcome, StageAction, StageState } from "#lib/browser/stage/stage-state.ts";
import type { ControlAnswer, ControlRequest, ControlState } from "#lib/browser/view/control-state.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import type { NewEvidence } from "#lib/evidence/evidence.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type {
  ChangedFile,
  CommandResult,
  TestPlace,
  TestProgram,
  WorkspaceFile,
} from "#lib/sandbox/sandbox-service.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type {
  AccessibilityRequest,
  AccessibilityResult,
} from "#lib/tools/browser/accessibility/accessibility-result.ts";
import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import type { ToolResult } from "#lib/tools/tool.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";

/**
 * Settings that a process of the service gives to a host when it connects. Those of the first of the connected processes
 * apply. A host without a connected process takes other settings, and ends its browsers for that.
 */
export type HostSettings = {
  /** `NETWORK_ALLOW`. */
  allow: readonly string[];
  /** The origin at which the service listens, and its public origins. Pages can open only a few paths of them. */
  ownOrigin: { origin: string; publicOrigins: string[] };
  idleMs: number;
  waitMs: number;
  keepSpare: boolean;
  /** `BROWSER_WEBDRIVER`. */
  webdriver: boolean;
  /** Origin from which published scripts are served. */
  scriptOrigin: string;
};

/** What a host says about itself when a process connects. */
export type HostInfo = {
  id: string;
  /** Whether a Chromium can run, and which one or why not. */
  browser: { available: boolean; detail: string };
  /** The sessions in which a person has control. */
  control: ControlState[];
  /** How the agent's scripts are confined. `refusal`: why they cannot run, as a sentence for the model. */
  scripts: { refusal: string | undefined; detail: string };
};

/** What runs at a host. */
export type HostLoad = {
  /** The sessions whose browser runs, starts or waits for a place. */
  sessionIds: string[];
  /** How many browsers run. */
  running: number;
  /** See `browser_hosts.places`. */
  places: number;
};

/** The sessions of a host whose browser is not recorded as starting or running there. */
export type UnrecordedSessions = {
  /** Their browser is recorded at another host, or they were deleted. */
  elsewhere: string[];
  ended: string[];
};

/** A call on a live page, as it crosses the link. The signal is the link's own. */
export type SentCall = Omit<PageCall, "signal" | "epoch"> & {
  /**
   * The epoch of the run's claim. A call with a lower epoch than the run's highest is refused. Null for a call outside of
   * a turn.
   */
  epoch: number | null;
  /** Names of the functions that a script of this call can call at the service. */
  helpers: string[];
};

/** A Chromium that the caller may run, see `BrowserLease`. */
type SentLease = {
  leaseId: string;
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  identity: BrowserLease["identity"];
  proxyPort: number;
};

type Call<Args, Result = null, Item = never> = { args: Args; result: Result; item: Item };
type OfSession<Args = unknown> = Args & { sessionId: string };

/** A call about the tests of a leased test run, see {@link TestPlace}. The caller must hold the lease. */
type OfLease<Args = unknown> = Args & { leaseId: string };

/** The calls about tests, which a host on another machine answers. */
type TestCalls = {
  addTestFiles: Call<OfLease<{ files: WorkspaceFile[] }>>;
  /**
   * Runs the tests, or waits for those that run already. If the link ends, the tests run on until the lease is released;
   * if the caller cancels the call, they end.
   */
  runTests: Call<OfLease<{ program: TestProgram; timeoutMs: number }>, CommandResult>;
  /** Whether the tests have been started. Needs no lease. */
  hasTests: Call<OfLease, boolean>;
  readTestFile: Call<
    OfLease<{ path: string; limitBytes: number }>,
    Awaited<ReturnType<TestPlace["readFile"]>>
  >;
  listChangedFiles: Call<OfLease, ChangedFile[]>;
};

/** The calls that a browser host answers. */
export type HostCalls = TestCalls & {
  attach: Call<HostSettings, HostInfo>;
  /** Holds a browser until the caller cancels the call. Sends one item when the browser is held. */
  hold: Call<OfSession<{ browserSessionId: string }>, null, "held">;
  /**
   * Leases a place until the caller cancels the call. Sends one item when the place is leased. If the link ends instead,
   * the lease is kept for a while, and a call with the same id continues it.
   */
  lease: Call<{ id: string }, null, SentLease>;
  listLeaseRefusals: Call<{ leaseId: string }, { host: string; reason: string }[]>;
  warmUp: Call<null>;
  open: Call<OfSession, BrowserOpening>;
  goTo: Call<OfSession<{ url: string; retargets: number }>>;
  navigate: Call<OfSession<{ url: string }>, NavigationOutcome>;
  history: Call<OfSession<{ action: "back" | "forward" | "reload" }>, BrowserOpening>;
  refreshPageScripts: Call<{ sessionIds: string[] }>;
  settle: Call<OfSession>;
  touch: Call<OfSession>;
  /**
   * Sends frames, the pointer of scripts and, with `hasStage`, the state of the stage until the caller cancels the call.
   */
  watch: Call<
    OfSession<{ hasStage: boolean }>,
    null,
    { frame: ScreencastFrame } | { pointer: ScriptPointer } | { stage: StageState }
  >;
  /** The host drops the input of a connection that does not have control, and refuses what else it wants. */
  input: Call<OfSession<{ connectionId: string; input: BrowserInput }>>;
  copy: Call<OfSession<{ connectionId: string; action: "copy" | "cut" }>, CopiedContent | null>;
  paste: Call<OfSession<{ connectionId: string; items: readonly PastedItem[] }>, ActionOutcome>;
  setViewport: Call<OfSession<{ connectionId: string; change: ViewportChange }>>;
  act: Call<OfSession<{ connectionId: string; action: StageAction }>, ActionOutcome>;
  /** Carries out what a connection wants of the session's control. */
  control: Call<OfSession<{ request: ControlRequest }>, ControlAnswer>;
  readControl: Call<OfSession, ControlState | null>;
  /** Reads whether the session's browser is handed over to people, and returns the state after that. */
  readHandover: Call<OfSession, ControlState>;
  findElements: Call<OfSession<{ anchors: ElementAnchor[] }>, SoughtElements | null>;
  locateTarget: Call<OfSession<{ part: MarkedPart }>, MarkedTarget | null>;
  captureBoxes: Call<OfSession<{ boxes: Box[] }>, (Uint8Array | null)[] | null>;
  readCursor: Call<OfSession<{ x: number; y: number }>, string>;
  reapIdle: Call<{ recorded: string[] }, number>;
  closeSession: Call<OfSession>;
  /** Tells the host that another host starts the browser of a session that waits here. */
  handOver: Call<OfSession>;
  /** Asks for places for sessions that wait at other hosts. Returns how many of them can get one. */
  offerPlaces: Call<{ count: number }, number>;
  runTool: Call<{ name: string; input: unknown; call: SentCall }, ToolResult>;
  /** Returns the result of an earlier call of this run, and ends the call if it still runs. Null if it is not known. */
  recover: Call<{ call: SentCall }, ToolResult | null>;
  firstLook: Call<OfSession<{ browserSessionId: string }>, string>;
  checkAccessibility: Call<
    { request: AccessibilityRequest; call: SentCall },
    AccessibilityResult,
    { done: number; total: number; message: string }
  >;
  variant: Call<VariantWork, unknown>;
  /** The process of the service ends. `isFinal`: the host ends, too, unless another process is connected. */
  leave: Call<{ isFinal: boolean }>;
};

/** One call of {@link VariantPages}. */
type VariantWork = { work: keyof VariantPages; input: unknown; call: SentCall };

type Nothing = ReturnType<() => void>;
type ArgsOf<Fn> = Fn extends (args: infer Args) => unknown ? Args : never;
type ResultOf<Fn> = Fn extends (args: never) => Promise<infer Result>
  ? [Result] extends [Nothing]
    ? null
    : Result
  : never;
type RecordCalls = {
  [Name in keyof BrowserRecords]: Call<ArgsOf<BrowserRecords[Name]>, ResultOf<BrowserRecords[Name]>>;
};

/**
 * The calls that a process of the service answers to its hosts. A host repeats a call whose connection ended before the
 * answer, perhaps at another process while the first attempt is still in progress. So a repeat must have no further
 * effect: changes have an id, and what is stored has a key. Source: decision 106.
 */
export type ServiceCalls = RecordCalls & {
  /**
   * Renews the lease of the host. `elsewhere` are the sessions whose browser is recorded at another host, and deleted
   * sessions; `ended` those whose browser is not recorded as starting or running.
   * @returns null if the lease is lost: the host must end all browsers.
   */
  renewLease: Call<HostLoad, ({ leaseMs: number } & UnrecordedSessions) | null>;
  /** Tells the process who has control of a session's browser. */
  controlChanged: Call<{ state: ControlState }>;
  readPageScript: Call<OfSession, PageScript>;
  submitAnnotation: Call<OfSession<{ body: string; key: string }>, AnnotationVerdict>;
  /** Chooses an unused path in the workspace for a download with this name. */
  chooseDownloadPath: Call<OfSession<{ name: string }>, string>;
  /** Returns false if there is another file at the path by now. */
  storeDownload: Call<OfSession<{ path: string; bytes: Uint8Array }>, boolean>;
  saveEvidence: Call<NewEvidence & { key: string }, EvidencePointer>;
  readFile: Call<OfSession<{ path: string; bytesMax: number }>, Uint8Array>;
  writeFile: Call<OfSession<{ path: string; bytes: Uint8Array }>>;
  /** Runs a function that a script of the call has called. */
  callHelper: Call<{ callId: string; name: string; args: unknown[] }, unknown>;
  readRevision: Call<OfSession<{ variant: string }>, string>;
  readShown: Call<OfSession, string>;
  noteRefusal: Call<NetworkRefusal>;
  log: Call<{ level: "debug" | "info" | "warn" | "error"; fields: Record<string, unknown>; message: string }>;
};
