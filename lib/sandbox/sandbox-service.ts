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
};

/** The sandboxes of all sessions. */
export type SandboxService = {
  /** The session's workspace, made where there is none; reports `starting`, then `ready` or `error` as its startup status. */
  open: (sessionId: string) => Promise<Workspace>;
  /** Whether shell commands can run, and how they are confined: for the banner and for the toolset. */
  describe: () => { kind: string; canRunCommands: boolean; detail: string };
  /** Ends what runs in the session's workspace and removes it. @throws RemovalError when something could not be removed. */
  remove: (sessionId: string) => Promise<void>;
  close: () => Promise<void>;
};
