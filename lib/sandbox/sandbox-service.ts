/** The values of the setting `SANDBOX`. Source: `configuration.md`, Variables, `SANDBOX`. */
export type SandboxKind = "local" | "none" | "unconfined" | "vercel";

/** The result of a command that has ended. */
export type CommandResult = {
  exitCode: number | null;
  /** The signal that ended the command; null if it exited. */
  signal: string | null;
  /** Standard output and standard error in the order of arrival. If they exceed the output limit, the middle is left out. */
  output: string;
  truncated: boolean;
  timedOut: boolean;
  durationMs: number;
};

/**
 * An entry of a workspace. Paths are relative to the workspace's root and use "/". A `link` is a symbolic link,
 * whatever its target; `other` is a special file, or a folder that cannot be read.
 */
export type WorkspaceEntry = {
  path: string;
  type: "file" | "directory" | "link" | "other";
  sizeBytes: number;
  /** When the content last changed, in milliseconds since 1970. Only in lists with `times`. */
  modifiedAtMs?: number;
};

/** A file as it is stored. `version` changes with each change of the file. */
export type StoredFile = { sizeBytes: number; modifiedAtMs: number; version: string };

/** The version that a file must have for a change; `absent` if there must be no file, `any` if there must be one. */
export type ExpectedVersion = { version: string } | "absent" | "any";

/** The interpreter of a program. */
export type Runtime = "node" | "python3" | "bash";

/** A program that the agent did not write, such as a script of a skill, with its files. */
export type Program = {
  runtime: Runtime;
  /** Paths are relative and use "/". */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** Path of the file to run. */
  script: string;
  /** Passed on unchanged: no shell interprets them. */
  args: readonly string[];
};

/** Playwright's test runner with Chromium, for the tests of a workspace. Paths are absolute. */
export type TestProgram = {
  /** Files of the service, which the program can read but not change. */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** Path of the file that Node runs. */
  script: string;
  /** npm packages of the service that the program finds below `/node_modules`. */
  packages: readonly string[];
  /** Files and folders of the machine with the browsers that the program can read: Chromium and its libraries. */
  shown: readonly { from: string; to: string }[];
  /** Loopback port of the proxy, the only way to the network. The program reaches it through {@link TEST_PROXY_SOCKET}. */
  proxyPort: number;
};

export const TEST_PROXY_SOCKET = "/egress/proxy.sock";

/**
 * The workspace of one session. No path can lead to files of the service or of another session. @throws WorkspaceError
 * with a readable message for a bad path.
 */
export type Workspace = {
  /** A sentence about missing files, for the model; undefined if all files of the session are here. */
  note?: string;
  readFile: (path: string, limitBytes: number) => Promise<{ bytes: Uint8Array; totalBytes: number }>;
  /**
   * Reads up to `limitBytes` bytes from `offset`, and describes the file that they are from. With the limit 0, only
   * describes it.
   */
  readPart: (
    path: string,
    part: { offset: number; limitBytes: number },
  ) => Promise<{ bytes: Uint8Array; file: StoredFile }>;
  /**
   * Writes a file, and the folders that lead to it. Of several writes that expect the same version, one succeeds.
   * @throws WorkspaceError with the reason `changed` if the file does not have the expected version.
   */
  writeFile: (path: string, bytes: Uint8Array, expected?: ExpectedVersion) => Promise<StoredFile>;
  /** Removes a file, a link (not its target) or an empty folder. @throws WorkspaceError as `writeFile`. */
  remove: (path: string, expected?: ExpectedVersion) => Promise<void>;
  /**
   * Lists the files and folders in a folder. With `all`, lists links and other entries, too. With `times`, also says when
   * they last changed. Links are not followed. Folders whose name is in `closed` are listed, but not what they contain.
   */
  list: (
    path: string,
    options: {
      recursive: boolean;
      limit: number;
      all?: boolean;
      times?: boolean;
      closed?: readonly string[];
    },
  ) => Promise<WorkspaceEntry[]>;
  run: (
    command: string,
    options: { timeoutMs: number; signal: AbortSignal; cwd?: string },
  ) => Promise<CommandResult>;
  /**
   * Runs a program in the workspace's folder. The program's files are in a new folder outside of the workspace, so
   * tools and earlier commands cannot change them. There is one exception: without confinement, a process
   * that an earlier command left running can still change them. The program's environment and home
   * contain nothing from the workspace.
   * @throws WorkspaceError if the runtime is not installed.
   */
  runProgram: (
    program: Program,
    options: { timeoutMs: number; signal: AbortSignal },
  ) => Promise<CommandResult>;
  /**
   * Runs a test program in the workspace's folder, under the limits for tests. The program can read the workspace, its
   * own files, the packages, and the files and folders in `shown`. Its only network is the proxy.
   *
   * @param options.id id of the test run. Where test programs outlive this process, a call with the same id continues it.
   * @param options.survives whether a program that outlives this process continues after an abort with this reason.
   * @throws WorkspaceError if this sandbox cannot run tests; the signal's reason if the program goes on.
   */
  runTests: (
    program: TestProgram,
    options: { id?: string; timeoutMs: number; signal: AbortSignal; survives?: (reason: unknown) => boolean },
  ) => Promise<CommandResult>;
  /** Whether a test program of this id and this proxy goes on, or has ended, since an earlier process has started it. */
  hasTests?: (id: string, proxyPort: number) => Promise<boolean>;
};

/**
 * A copy of a workspace at a browser host on another machine, in which the tests of one test run run. It is removed with
 * the lease of the test run.
 */
export type TestPlace = Required<Pick<Workspace, "readFile" | "runTests" | "hasTests">> & {
  /** Adds files of the workspace. */
  add: (files: WorkspaceFile[]) => Promise<void>;
  /** Lists the files that are not as they were added: tests have created or changed them. */
  listChanged: () => Promise<ChangedFile[]>;
};

/** A file of a workspace. The path is relative to its root. */
export type WorkspaceFile = { path: string; bytes: Uint8Array };
export type ChangedFile = { path: string; sizeBytes: number };

/** `detail`: how commands are confined. `isolation`: how sessions are isolated from each other, in one line. */
type SandboxDescription = { kind: string; canRunCommands: boolean; detail: string; isolation: string };

/** The sandboxes of all sessions. */
export type SandboxService = {
  /**
   * Opens or creates the session's workspace. If the workspace is not open in this process yet, reports the startup
   * status `starting`, then `ready` or `error`.
   */
  open: (sessionId: string) => Promise<Workspace>;
  /** Describes the sandbox for the banner and the toolset: whether commands can run, and how they are confined. */
  describe: () => SandboxDescription;
  /** Kills the running commands of a session and removes its workspace. @throws RemovalError if a file cannot be removed. */
  remove: (sessionId: string) => Promise<void>;
  close: () => Promise<void>;
};
