import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OpenDatabase } from "../client.ts";
import { makeConnectionName } from "../connection-name.ts";
import { lockFolder } from "./lock-folder.ts";

/** Opens PGlite in `<dataDir>/db`, as the folder's one owner: PGlite has no lock and two writers corrupt it. */
export async function openEmbedded(dataDir: string, onStatement?: () => void): Promise<OpenDatabase> {
  const folder = join(dataDir, "db");
  await mkdir(folder, { recursive: true });
  // PGlite writes its files open to every user of the machine; nobody else gets as far as them.
  await chmod(folder, 0o700);
  const unlock = await lockFolder(dataDir);
  try {
    const [{ PGlite }, { openPgliteDatabase }] = await Promise.all([
      import("@electric-sql/pglite"),
      import("./pglite-database.ts"),
    ]);
    const pg = await PGlite.create(folder);
    const { db } = await openPgliteDatabase(pg, onStatement);
    const close = async () => {
      await pg.close();
      await unlock();
    };
    return { db, driver: "pglite", name: makeConnectionName(), close };
  } catch (error) {
    await unlock();
    throw error;
  }
}
