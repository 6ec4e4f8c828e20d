import { createHmac } from "node:crypto";

/**
 * Returns the key of a session's variant in exported files: the variant's name and a hash. Exported files become public
 * on the pages of visitors, so the key must not reveal the session's id: the annotation webhook needs only that id. The
 * key is the same in all exports of the variant, so another tool recognizes the experiment.
 */
export type ExportKeyOf = (sessionId: string, variant: string) => string;

const HASH_CHARACTERS = 24;

/**
 * Creates the function that names variants in exported files.
 *
 * @param key the deployment's secret key, from which the key of the hash is derived.
 */
export function createExportKeys(key: Uint8Array): ExportKeyOf {
  const hashKey = createHmac("sha256", key).update("variant-export/v1").digest();
  return (sessionId, variant) => {
    const hash = createHmac("sha256", hashKey).update(`${sessionId} ${variant}`).digest("hex");
    return `${variant}-${hash.slice(0, HASH_CHARACTERS)}`;
  };
}
