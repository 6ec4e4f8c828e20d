/** Step 5: the production build of the pages, made anew when something it is made from changed. */
import { rmSync } from "node:fs";
import { runCommand } from "./command.mjs";
import { showStep } from "./progress.mjs";
import { SetupError } from "./setup-error.mjs";
import { hashTree, readStamp, writeStamp } from "./stamp.mjs";

const stampPath = ".next/.setup-build.json";
const sources = [
  "app",
  "components",
  "lib",
  "inngest",
  "db",
  "public",
  "next.config.ts",
  "proxy.ts",
  "postcss.config.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];

/**
 * Builds unless the last build was made from the same files.
 * @param {string} node executable of Node 24
 * @throws {SetupError} when the build fails, with its whole output
 */
export async function ensureBuilt(node) {
  const hash = hashSources();
  if (readStamp(stampPath)?.sources === hash) return;
  // A failed build may leave half of the old one: without a stamp the next start builds again.
  rmSync(stampPath, { force: true });
  await showStep("Building the pages", async () => {
    const result = await runCommand(node, ["node_modules/next/dist/bin/next", "build"], {
      env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    });
    if (!result.ok)
      throw new SetupError("The pages could not be built: what Next said is above.", result.output);
  });
  // Next may have completed tsconfig.json on the way.
  writeStamp(stampPath, { sources: hashSources() });
}

function hashSources() {
  return hashTree(sources, (path) => !path.endsWith(".test.ts"));
}
