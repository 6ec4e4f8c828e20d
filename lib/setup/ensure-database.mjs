/** Step 4 of the setup: prepares a template of the embedded database. The template makes the first start faster. */
import { runCommand } from "./command.mjs";
import { showStep, warnFailure } from "./progress.mjs";
import { hashTree, readStamp, writeStamp } from "./stamp.mjs";

const stampPath = "node_modules/.cache/agent-session-service/postgres/prepared.json";

/**
 * Prepares the template if the files that it is made from have changed. Does nothing if `DATABASE_URL` is set, because
 * the embedded database is then not used. A failure is only printed: the service prepares the database itself when it
 * starts, and reports a problem that persists.
 * @param {string} node executable of Node 24
 */
export async function ensureDatabase(node) {
  if (process.env.DATABASE_URL) return;
  const sources = hashTree(["db/embedded", "db/migrations", "package-lock.json"]);
  if (readStamp(stampPath)?.sources === sources) return;
  const isPrepared = await showStep("Preparing the database", async () => {
    const result = await runCommand(node, [
      "--disable-warning=ExperimentalWarning",
      "db/embedded/prepare-template.ts",
    ]);
    if (!result.ok) warnFailure("The database is prepared by the first start instead", result);
    return result.ok;
  });
  if (isPrepared) writeStamp(stampPath, { sources });
}
