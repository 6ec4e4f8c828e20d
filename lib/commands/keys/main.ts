import { runCommandLine } from "../run-command-line.ts";
import { KEYS_USAGE, readKeysCommand } from "./read-command.ts";
import { runKeysCommand } from "./run-key-command.ts";

// The entry point of `npm run keys -- create | list | revoke | update | rotate | rotate-encryption`.

runCommandLine(
  {
    usage: KEYS_USAGE,
    read: readKeysCommand,
    open: async (env) => (await import("../open-operator-client.ts")).openOperatorClient(env),
    run: (client, command) => runKeysCommand(client, command),
  },
  "The keys cannot be accessed",
);
