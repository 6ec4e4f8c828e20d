import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { EnvError, readEnv } from "#lib/server/env.ts";
import { shortenResolution } from "#lib/setup/shorten-resolution.ts";
import { countOf } from "#lib/text/count-of.ts";

const USAGE = `Usage:

  npm run backup [-- <file>]              write the embedded database, workspaces, evidence and keys to an archive
                                          (default: agent-session-backup-<time>.tar.gz); the service may be running
  npm run restore -- <file> [--replace]   restore an archive into DATA_DIR; stop the service first`;

/** Runs `backup` or `restore`. @returns the exit code. */
async function main([command, ...words]: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { replace: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  });
  const [file, ...rest] = positionals;
  const needsFile = command === "restore" && file === undefined;
  if (values.help || rest.length > 0 || needsFile) {
    console.log(USAGE);
    return values.help ? 0 : 1;
  }
  const env = readEnv(process.env);
  if (env.DATABASE_URL)
    throw new EnvError(
      "DATABASE_URL is set: back up that database with its own tools (pg_dump), and copy workspaces and evidence from DATA_DIR",
    );
  // The import is dynamic, because a static import would be resolved before the hook is registered.
  shortenResolution();
  const { restoreBackup, writeBackup } = await import("./archive.ts");
  if (command === "backup") {
    const path = resolve(
      file ?? `agent-session-backup-${new Date().toISOString().replaceAll(":", "-")}.tar.gz`,
    );
    const { tables } = await writeBackup(env.DATA_DIR, path);
    console.log(
      `Wrote ${path}: ${describeRows(tables)}. The archive contains the service's keys: store it as safely as the keys.`,
    );
    return 0;
  }
  const options = { replaces: values.replace };
  const { manifest, movedTo } = await restoreBackup(env.DATA_DIR, resolve(file ?? ""), options);
  console.log(`Restored the backup of ${manifest.createdAt}: ${describeRows(manifest.tables)}.`);
  if (movedTo) console.log(`The previous data was moved to ${movedTo}.`);
  return 0;
}

function describeRows(tables: { name: string; rows: number }[]): string {
  const sessions = tables.find(({ name }) => name === "sessions")?.rows ?? 0;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return `${countOf(Number(sessions), "session")}, ${rows} rows in ${tables.length} tables`;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
