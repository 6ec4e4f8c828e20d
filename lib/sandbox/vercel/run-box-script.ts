import type { VercelBox } from "./vercel-box.ts";

/** How much of the end of a failed script's output is shown. */
const SHOWN_CHARACTERS = 2_000;

/** Runs a shell script of the service in a box. @returns its output. @throws Error with the end of the output if it fails. */
export async function runBoxScript(
  box: VercelBox,
  script: string,
  args: string[],
  options: { sudo?: boolean; env?: Record<string, string> } = {},
): Promise<string> {
  const command = await box.runCommand({
    cmd: "bash",
    args: ["-c", script, "bash", ...args],
    ...options,
    detached: true,
  });
  let output = "";
  for await (const { data } of command.logs()) output = (output + data).slice(-OUTPUT_CHARACTERS_MAX);
  const { exitCode } = await command.wait();
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}:\n${output.trim().slice(-SHOWN_CHARACTERS)}`);
  return output;
}

const OUTPUT_CHARACTERS_MAX = 2 ** 20;
