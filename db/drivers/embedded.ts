import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OpenDatabase } from "../client.ts";
import { makeConnectionName } from "../connection-name.ts";
import { lockFolder } from "./lock-folder.ts";
import type { PglitePort } from "./pglite-port.ts";

/**
 * Opens PGlite in `<dataDir>/db`, as the folder's one owner: PGlite has no lock and two writers corrupt it.
 *
 * @param options.onStatement see {@link DatabaseOptions}.
 * @param options.onLost called when the database has ended by itself and every statement fails from then on.
 * @throws DatabaseLockedError when another live process owns the folder.
 */
export async function openEmbedded(
  dataDir: string,
  {
    onStatement,
    onLost = endProcess,
  }: { onStatement?: (() => void) | undefined; onLost?: (error: Error) => void } = {},
): Promise<OpenDatabase> {
  const folder = join(dataDir, "db");
  await mkdir(folder, { recursive: true });
  // PGlite writes its files open to every user of the machine; nobody else gets as far as them.
  await chmod(folder, 0o700);
  const unlock = await lockFolder(dataDir);
  let port: PglitePort | undefined;
  try {
    const starting = import("./pglite-thread.ts").then(({ startPgliteThread }) =>
      startPgliteThread(folder, onLost),
    );
    // Loading Drizzle takes about as long as the thread takes to open the files.
    const loading = import("./pglite-database.ts");
    loading.catch(() => {});
    port = await starting;
    const { openPgliteDatabase } = await loading;
    const { db, client } = await openPgliteDatabase(port, onStatement);
    const close = async () => {
      await client.close();
      await unlock();
    };
    return { db, driver: "pglite", name: makeConnectionName(), close };
  } catch (error) {
    await port?.close();
    await unlock();
    throw error;
  }
}

/** Nothing goes on without the database: what is under way is taken up by the next start. */
function endProcess(error: Error): never {
  throw error;
}
