import { randomBytes } from "node:crypto";
import { open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { prepareDataFolder } from "./data-folder.ts";

/** Secrets that the embedded default makes for itself, once, in the data folder. */
export type KeptSecrets = { encryptionKey: Buffer; apiKey: string };

/** Reads the generated secrets of a data folder, making those that are missing; files are readable by their owner alone. */
export async function keepSecrets(dataDir: string): Promise<KeptSecrets> {
  await prepareDataFolder(dataDir);
  const key = await keep(join(dataDir, "encryption-key"), () => randomBytes(32).toString("base64"));
  const apiKey = await keep(join(dataDir, "api-key"), () => `local_${randomBytes(24).toString("base64url")}`);
  const encryptionKey = Buffer.from(key, "base64");
  if (encryptionKey.byteLength !== 32)
    throw new Error(`${join(dataDir, "encryption-key")} does not hold 32 bytes in base64`);
  return { encryptionKey, apiKey };
}

/** The text of a file; where there is none, it is created with what `make` gives. */
async function keep(path: string, make: () => string): Promise<string> {
  try {
    const file = await open(path, "wx", 0o600);
    const text = make();
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
    } catch (error) {
      // The next start must not read half a secret.
      await unlink(path);
      throw error;
    } finally {
      await file.close();
    }
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readFile(path, "utf8")).trim();
  }
}
