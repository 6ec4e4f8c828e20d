import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { EnvError, readEnv } from "#lib/server/env.ts";
import { restoreBackup, writeBackup } from "./archive.ts";
import { importPglite } from "./import-pglite.ts";

const USAGE = `npm run backup [-- <file>]                  writes the embedded database, workspaces, evidence and keys to an archive
                                            (default: agent-session-backup-<time>.tar.gz); the service may run
npm run restore -- <file> [--replace]       restores an archive into DATA_DIR while the service is stopped
npm run import-pglite                       moves the PGlite database of an earlier version into the new one`;

/** `backup`, `restore` and `import-pglite`. @returns the exit code. */
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
      "DATABASE_URL is set: back that database up with its own tools (pg_dump), and copy workspaces and evidence from DATA_DIR",
    );
  if (command === "backup") {
    const path = resolve(
      file ?? `agent-session-backup-${new Date().toISOString().replaceAll(":", "-")}.tar.gz`,
    );
    const { tables } = await writeBackup(env.DATA_DIR, path);
    console.log(`Written: ${path}, ${describeRows(tables)}. It holds the keys: keep it as you keep them.`);
    return 0;
  }
  if (command === "restore") {
    const options = { replaces: values.replace };
    const { manifest, keptIn } = await restoreBackup(env.DATA_DIR, resolve(file ?? ""), options);
    console.log(`Restored: the state of ${manifest.createdAt}, ${describeRows(manifest.tables)}.`);
    if (keptIn) console.log(`The former content is kept in ${keptIn}.`);
    return 0;
  }
  const { manifest, keptIn } = await importPglite(env.DATA_DIR);
  console.log(`Imported: ${describeRows(manifest.tables)}. The former database is kept in ${keptIn}.`);
  return 0;
}

function describeRows(tables: { name: string; rows: number }[]): string {
  const sessions = tables.find(({ name }) => name === "sessions")?.rows ?? 0;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return `${sessions} sessions, ${rows} rows in ${tables.length} tables`;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
