import { EnvError, readEnv } from "#lib/server/env.ts";
import { openPortingDesk } from "./open-porting-desk.ts";
import { PORTING_USAGE, readPortingCommand } from "./read-command.ts";
import { runPortingCommand } from "./run-porting-command.ts";

/** `npm run export` and `npm run import`. @returns the exit code. */
async function main(words: string[]): Promise<number> {
  const command = readPortingCommand(words);
  if (command.kind === "help") {
    console.log(PORTING_USAGE);
    return 0;
  }
  if (command.kind === "invalid") {
    console.error(`${command.message}\n\n${PORTING_USAGE}`);
    return 1;
  }
  const desk = await openPortingDesk(readEnv(process.env), command.key);
  try {
    const { isDone, lines } = await runPortingCommand(desk, command);
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
    console.error(error instanceof EnvError ? message : `The sessions cannot be accessed: ${message}`);
    process.exit(1);
  },
);
