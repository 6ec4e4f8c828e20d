import { type Env, EnvError, readEnv } from "#lib/server/env.ts";
import { shortenResolution } from "#lib/setup/shorten-resolution.ts";

type Help = { kind: "help" };
/** The result of reading an invalid command line: a message for the user. */
type Invalid = { kind: "invalid"; message: string };

/** The output of a command. `isDone` is false if the command failed. */
type Outcome = { isDone: boolean; lines: string[] };

/** A command for the operator. It works with a client, which is a client of either the database or the running service. */
type Program<Command, Client> = {
  usage: string;
  read: (words: string[]) => Command | Help | Invalid;
  /** Imports the client dynamically, so that usage and mistakes are shown without the time to load it. */
  open: (env: Env, command: Command) => Promise<Client>;
  run: (client: Client, command: Command) => Promise<Outcome>;
};

/**
 * Runs a command for the operator with the arguments of the process, and ends the process. If the command fails, its
 * lines go to standard error, and the exit code is 1.
 *
 * @param failure the beginning of the message for an error that is not about the settings.
 */
export function runCommandLine<
  Command extends { kind: string },
  Client extends { close: () => Promise<void> },
>(program: Program<Command, Client>, failure: string): void {
  run(program, process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      console.error(error instanceof EnvError ? message : `${failure}: ${message}`);
      process.exit(1);
    },
  );
}

/** @returns the exit code. */
async function run<Command extends { kind: string }, Client extends { close: () => Promise<void> }>(
  { usage, read, open, run: runWith }: Program<Command, Client>,
  words: string[],
): Promise<number> {
  const command = read(words);
  if (isHelp(command)) {
    console.log(usage);
    return 0;
  }
  if (isInvalid(command)) {
    console.error(`${command.message}\n\n${usage}`);
    return 1;
  }
  shortenResolution();
  const client = await open(readEnv(process.env), command);
  try {
    const { isDone, lines } = await runWith(client, command);
    (isDone ? console.log : console.error)(lines.join("\n"));
    return isDone ? 0 : 1;
  } finally {
    await client.close();
  }
}

const isHelp = (parsed: { kind: string }): parsed is Help => parsed.kind === "help";
const isInvalid = (parsed: { kind: string }): parsed is Invalid => parsed.kind === "invalid";
