import { EnvError, readEnv } from "#lib/server/env.ts";
import { openKeyDesk } from "./open-key-desk.ts";
import { KEYS_USAGE, readKeysCommand } from "./read-command.ts";
import { runKeysCommand } from "./run-key-command.ts";

/** `npm run keys -- create | list | revoke | rotate`. @returns the exit code. */
async function main(words: string[]): Promise<number> {
  const command = readKeysCommand(words);
  if (command.kind === "help") {
    console.log(KEYS_USAGE);
    return 0;
  }
  if (command.kind === "invalid") {
    console.error(`${command.message}\n\n${KEYS_USAGE}`);
    return 1;
  }
  const desk = await openKeyDesk(readEnv(process.env));
  try {
    const { isDone, lines } = await runKeysCommand(desk, command);
    (isDone ? console.log : console.error)(lines.join("\n"));
    return isDone ? 0 : 1;
  } finally {
    await desk.close();
  }
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    console.error(error instanceof EnvError ? message : `The keys cannot be accessed: ${message}`);
    process.exit(1);
  },
);
