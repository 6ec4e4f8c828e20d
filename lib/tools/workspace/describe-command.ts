import { storableText } from "#db/storable.ts";
import type { CommandResult } from "#lib/sandbox/sandbox-service.ts";

/** The longest timeout that a call may set for a command, in milliseconds. */
export const COMMAND_TIMEOUT_MS_MAX = 600_000;

/** Formats a command's output and how it ended, for the model. */
export function describeCommand({ output, exitCode, signal, timedOut, durationMs }: CommandResult): string {
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  const end = exitCode === null ? `ended by ${signal ?? "a signal"}` : `exit code ${exitCode}`;
  return `${storableText(output)}${gap}[${end}${timedOut ? ", timed out" : ""}, ${durationMs} ms]`;
}
