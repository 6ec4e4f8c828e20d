import { EnvError, readEnv } from "#lib/server/env.ts";
import { runCommandLine } from "../run-command-line.ts";
import { printLoginLink } from "./print-login-link.ts";
import { LOGIN_USAGE, readLoginCommand } from "./read-command.ts";
import { runLoginCommand } from "./run-login-command.ts";

// The entry point of `npm run login`, which prints a login link, and `npm run login -- list | end`, which lists or ends
// logins.

if (process.argv.length === 2)
  printLink().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    console.error(error instanceof EnvError ? message : `No login link: ${message}`);
    process.exitCode = 1;
  });
else
  runCommandLine(
    {
      usage: LOGIN_USAGE,
      read: readLoginCommand,
      open: async (env) => (await import("../open-operator-client.ts")).openOperatorClient(env),
      run: (client, command) => runLoginCommand(client, command),
    },
    "The logins cannot be accessed",
  );

async function printLink(): Promise<void> {
  console.log(await printLoginLink(readEnv(process.env)));
}
