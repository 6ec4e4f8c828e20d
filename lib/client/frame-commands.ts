import type { FrameMessage, HostCommand, HostMessageAccepted } from "./frame-messages.ts";

type Result = Extract<FrameMessage, { type: "result" }>;
type DistributiveOmit<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never;

/** The commands of a host page to its frame. */
export type FrameCommands = {
  /** Sends a command, or keeps it until the frame is ready. Rejects if the frame refuses it or does not answer. */
  run: (command: DistributiveOmit<HostCommand, "id">) => Promise<HostMessageAccepted | null>;
  /** Applies the frame's answer to a command. */
  settle: (result: Result) => void;
  /** Sends the commands that were kept, and later ones at once. */
  resume: () => void;
  /** Keeps later commands. */
  pause: () => void;
  /**
   * Keeps later commands, and those that have no result: the frame has loaded again. A frame runs a command with an id
   * that it has run before only once.
   */
  restart: () => void;
  /** Rejects all commands that have no result. */
  fail: (error: string) => void;
};

/** A command that has no result yet. */
type Pending = {
  command: HostCommand;
  isSent: boolean;
  settle: (result: Result) => void;
  timer: ReturnType<typeof setTimeout>;
};

/** How many commands may wait for their result. */
const PENDING_MAX = 100;
/** How long a command may take, with the time until the frame is ready. */
const RESULT_WITHIN_MS = 60_000;

/** Returns a text that no other page has. Works on pages without https, too, where `randomUUID` is missing. */
const randomText = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("-");

/** Creates the commands of one frame. @param post sends a command to the frame. */
export function createFrameCommands(post: (command: HostCommand) => void): FrameCommands {
  const pending = new Map<string, Pending>();
  // The service knows messages by the ids of their commands, so that the ids of two pages must differ.
  const prefix = randomText();
  let count = 0;
  let isReady = false;

  function sendKept(): void {
    for (const each of pending.values()) {
      if (each.isSent) continue;
      each.isSent = true;
      post(each.command);
    }
  }
  function settle(result: Result): void {
    const settled = pending.get(result.id);
    if (!settled) return;
    pending.delete(result.id);
    clearTimeout(settled.timer);
    settled.settle(result);
  }
  const refuse = (id: string, error: string) => settle({ type: "result", id, isDone: false, error });

  return {
    run: (command) =>
      new Promise((resolve, reject) => {
        if (pending.size >= PENDING_MAX) {
          reject(new Error("too many commands wait for their result"));
          return;
        }
        count += 1;
        const id = `${prefix}-${count}`;
        pending.set(id, {
          command: { ...command, id },
          isSent: false,
          settle: (result) => (result.isDone ? resolve(result.accepted) : reject(new Error(result.error))),
          timer: setTimeout(() => refuse(id, "the frame did not answer in time"), RESULT_WITHIN_MS),
        });
        if (isReady) sendKept();
      }),
    settle,
    resume() {
      isReady = true;
      sendKept();
    },
    pause() {
      isReady = false;
    },
    restart() {
      isReady = false;
      for (const each of pending.values()) each.isSent = false;
    },
    fail(error) {
      for (const id of [...pending.keys()]) refuse(id, error);
    },
  };
}
