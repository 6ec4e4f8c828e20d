/** How a command ended. */
export type CommandResult = {
  exitCode: number | null;
  /** The signal that ended it, where one did. */
  signal: string | null;
  /** Standard output and error as they came, cut at the output limit. */
  output: string;
  truncated: boolean;
  timedOut: boolean;
  durationMs: number;
};

/**
 * An entry of a workspace; paths are relative to its root and use "/". A `link` is a symbolic link, wherever it leads;
 * `other` is a special file, or a folder that cannot be read.
 */
export type WorkspaceEntry = {
  path: string;
  type: "file" | "directory" | "link" | "other";
  sizeBytes: number;
};

/** What runs a program. */
export type Runtime = "node" | "python3" | "bash";

/** A program of somebody else than the agent, with the files that it consists of. */
export type Program = {
  runtime: Runtime;
  /** Paths are relative and use "/". */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** Which of the files is run. */
  script: string;
  /** Handed on as they are: no shell reads them. */
  args: readonly string[];
};

/** Playwright's test runner with Chromium, for the tests of a workspace. Paths are absolute. */
export type TestProgram = {
  /** The service's own files, read-only. */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** Which of the files Node runs. */
  script: string;
  /** Files and folders of the machine that the program reads: Playwright's packages and Chromium. */
  shown: readonly { from: string; to: string }[];
  /** Loopback port of the proxy that is its only way to the network. The program finds it at {@link TEST_PROXY_SOCKET}. */
  proxyPort: number;
};

export const TEST_PROXY_SOCKET = "/egress/proxy.sock";

/** The workspace of one session. Every path is held inside it. @throws WorkspaceError with a sentence for a bad path. */
export type Workspace = {
  readFile: (path: string, limitBytes: number) => Promise<{ bytes: Uint8Array; totalBytes: number }>;
  writeFile: (path: string, bytes: Uint8Array) => Promise<void>;
  /** Lists a folder: its files and folders, with `all` its links and other entries too. Links are not followed. */
  list: (
    path: string,
    options: { recursive: boolean; limit: number; all?: boolean },
  ) => Promise<WorkspaceEntry[]>;
  run: (
    command: string,
    options: { timeoutMs: number; signal: AbortSignal; cwd?: string },
  ) => Promise<CommandResult>;
  /**
   * Runs a program in the workspace's folder. Its files lie outside of the workspace in a folder of this run alone, so that
   * nothing that a tool or an earlier command has written changes what is run. Where commands are not confined, and in a
   * Vercel Sandbox, a process that an earlier command left running could. Its environment and its home hold nothing of the
   * workspace's. @throws WorkspaceError where the runtime does not exist.
   */
  runProgram: (
    program: Program,
    options: { timeoutMs: number; signal: AbortSignal },
  ) => Promise<CommandResult>;
  /**
   * Runs a test program in the workspace's folder, under the limits for tests. It sees the workspace, what the program names,
   * and no network but the proxy. @throws WorkspaceError with a sentence where this sandbox cannot run tests.
   */
  runTests: (
    program: TestProgram,
    options: { timeoutMs: number; signal: AbortSignal },
  ) => Promise<CommandResult>;
};

/** How the commands of this deployment are confined, and what keeps sessions from each other, in one line. */
type SandboxDescription = { kind: string; canRunCommands: boolean; detail: string; isolation: string };

/** The sandboxes of all sessions. */
export type SandboxService = {
  /** The session's workspace, made where there is none; reports `starting`, then `ready` or `error` as its startup status. */
  open: (sessionId: string) => Promise<Workspace>;
  /** Whether shell commands can run, and how they are confined: for the banner and for the toolset. */
  describe: () => SandboxDescription;
  /** Ends what runs in the session's workspace and removes it. @throws RemovalError when something could not be removed. */
  remove: (sessionId: string) => Promise<void>;
  close: () => Promise<void>;
};
