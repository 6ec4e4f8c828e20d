import { storableText } from "#db/storable.ts";
import type { CommandResult } from "#lib/sandbox/sandbox-service.ts";

/** The longest timeout that a call may set for a command, in milliseconds. */
export const COMMAND_TIMEOUT_MS_MAX = 600_000;
/** How much longer than its command a call may take: to open the workspace, and to return the output. */
export const COMMAND_END_MS = 15_000;

/**
 * Formats a command's output and how it ended, for the model.
 *
 * @param note a sentence about files that are missing. It is added if the command failed, because they may be the reason.
 */
export function describeCommand(result: CommandResult, note?: string): string {
  const { output, exitCode, signal, timedOut, durationMs } = result;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  const end = exitCode === null ? `ended by ${signal ?? "a signal"}` : `exit code ${exitCode}`;
  const missing = note !== undefined && exitCode !== 0 ? `\n[${note}]` : "";
  return `${storableText(output)}${gap}[${end}${timedOut ? ", timed out" : ""}, ${durationMs} ms]${missing}`;
}
