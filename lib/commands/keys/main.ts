import { runCommandLine } from "../run-command-line.ts";
import { openKeyDesk } from "./open-key-desk.ts";
import { KEYS_USAGE, readKeysCommand } from "./read-command.ts";
import { runKeysCommand } from "./run-key-command.ts";

// `npm run keys -- create | list | revoke | rotate | rotate-encryption`.

runCommandLine(
  {
    usage: KEYS_USAGE,
    read: readKeysCommand,
    open: openKeyDesk,
    run: (desk, command) => runKeysCommand(desk, command),
  },
  "The keys cannot be accessed",
);
