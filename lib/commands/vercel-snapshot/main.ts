import { createRequire } from "node:module";
import { runCommandLine } from "../run-command-line.ts";
import { readSnapshotCommand, SNAPSHOT_USAGE } from "./read-command.ts";
import { runSnapshotCommand } from "./run-snapshot-command.ts";

// The entry point of `npm run vercel-snapshot`.

// The cast is safe because each package.json has a version.
const { version } = createRequire(import.meta.url)("playwright-core/package.json") as { version: string };

runCommandLine(
  {
    usage: SNAPSHOT_USAGE,
    read: readSnapshotCommand,
    open: async () => ({ close: async () => {} }),
    run: (_, { image, expireDays }) =>
      runSnapshotCommand({
        playwright: version,
        image,
        expireDays,
        onStep: (step) => console.log(`… ${step}`),
      }),
  },
  "The snapshot could not be made",
);
