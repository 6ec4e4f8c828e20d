import { runCommandLine } from "../run-command-line.ts";
import { PORTING_USAGE, readPortingCommand } from "./read-command.ts";
import { runPortingCommand } from "./run-porting-command.ts";

// The entry point of `npm run export` and `npm run import`.

runCommandLine(
  {
    usage: PORTING_USAGE,
    read: readPortingCommand,
    open: async (env, { key }) => (await import("./open-export-client.ts")).openExportClient(env, key),
    run: runPortingCommand,
  },
  "The sessions cannot be accessed",
);
