import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer, SecretPlace } from "#lib/secrets/sealer.ts";
import { placeSiteData } from "#lib/session/secrets/secret-names.ts";
import type { BrowserRecords } from "../browser-records.ts";
import {
  byteLength,
  COOKIES_BYTES_MAX,
  COOKIES_PART,
  ORIGIN_BYTES_MAX,
  type SiteDataPart,
} from "./site-data.ts";
import { changeSiteDataRows, readSiteDataRows } from "./site-data-store.ts";

type Deps = { db: Database; sealer: Sealer; logger: Logger };

const [compress, decompress] = [promisify(deflate), promisify(inflate)];

/** Creates the records of site data for the browser host with this id. The data is compressed, and then encrypted. */
export function createStoredSiteData(
  { db, sealer, logger }: Deps,
  hostId: string,
): Pick<BrowserRecords, "readSiteData" | "saveSiteData"> {
  return {
    async readSiteData({ sessionId }) {
      const rows = await readSiteDataRows(db, sessionId);
      const parts = await Promise.all(
        rows.map(async ({ name, sealed, usedAt }): Promise<SiteDataPart | undefined> => {
          try {
            const text = await open(sealer, placeSiteData(sessionId, name), sealed);
            return { name, text, usedAtMs: usedAt.getTime() };
          } catch (error) {
            logger.warn({ sessionId, err: error }, "stored site data could not be decrypted");
            return undefined;
          }
        }),
      );
      return {
        parts: parts.filter((part) => part !== undefined),
        unreadable: rows.flatMap(({ name }, index) => (parts[index] ? [] : [name])),
      };
    },
    async saveSiteData({ sessionId, generation, changed, removed, used }) {
      const rows = await Promise.all(
        changed.map(async ({ name, text, usedAtMs }) => {
          const sizeBytes = byteLength(text);
          if (sizeBytes > (name === COOKIES_PART ? 2 * COOKIES_BYTES_MAX : ORIGIN_BYTES_MAX))
            throw new Error("the site data of an origin is too large");
          const sealed = await seal(sealer, placeSiteData(sessionId, name), text);
          return { sessionId, name, sealed, sizeBytes, usedAt: new Date(usedAtMs) };
        }),
      );
      const browser = { sessionId, generation, hostId };
      return changeSiteDataRows(db, browser, { rows, removed, used, usedAt: new Date() });
    },
  };
}

const seal = async (sealer: Sealer, place: SecretPlace, text: string): Promise<string> =>
  sealer.seal(place, (await compress(text)).toString("base64"));

async function open(sealer: Sealer, place: SecretPlace, sealed: string): Promise<string> {
  const compressed = Buffer.from(sealer.open(place, sealed), "base64");
  const text = await decompress(compressed, { maxOutputLength: 2 * ORIGIN_BYTES_MAX });
  return text.toString();
}
