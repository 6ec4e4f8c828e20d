/**
 * Step 5 of the setup: makes the production build of the pages and the service, if a source file has changed since the
 * last build or the built service is missing.
 */
import { existsSync, rmSync } from "node:fs";
import { buildService, SERVICE_PROGRAM } from "./build-service.mjs";
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
 * Builds the pages and the service if the source files differ from those of the last build, or if the built service is
 * missing.
 * @param {string} node executable of Node 24
 * @throws {SetupError} if one of the builds fails; the error contains the whole output of the build
 */
export async function ensureBuilt(node) {
  const hash = hashSources();
  if (readStamp(stampPath)?.sources === hash && existsSync(SERVICE_PROGRAM)) return;
  const builtFrom = hashWritten();
  // Removes the stamp first, so that the next start builds again if this build fails.
  rmSync(stampPath, { force: true });
  await showStep("Building the pages", async () => {
    const result = await runCommand(node, ["node_modules/next/dist/bin/next", "build"], {
      env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
      endsWithParent: true,
    });
    if (!result.ok)
      throw new SetupError("Building the pages failed. See the output of Next above.", result.output);
  });
  await showStep("Building the service", () =>
    buildService().catch((error) => {
      throw new SetupError("Building the service failed. See the output of esbuild above.", error.message);
    }),
  );
  // If a source file was changed during the build, the next start builds again.
  if (hashWritten() !== builtFrom) return;
  // Computes the hash again, because Next may have changed tsconfig.json during the build.
  writeStamp(stampPath, { sources: hashSources() });
}

/** Returns the hash of the source files except tsconfig.json, which Next may change. */
function hashWritten() {
  return hashTree(sources, (path) => !path.endsWith(".test.ts") && path !== "tsconfig.json");
}

function hashSources() {
  return hashTree(sources, (path) => !path.endsWith(".test.ts"));
}
