import { sql } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { lockOwner } from "#db/lock-owner.ts";
import { landingPageFiles, landingPages, landingPageVersions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import type { ByteUsage } from "#lib/session/byte-limits.ts";
import { PAGE_LIMITS } from "./page-limits.ts";
import type { PageFile } from "./page-store.ts";

/** Locks an owner's pages until the transaction ends, so that two deploys cannot both use the same remaining bytes. */
export const lockPagesOfOwner = (tx: Transaction, ownerId: string): Promise<void> =>
  lockOwner(tx, "pages", ownerId);

/**
 * Measures the bytes that an owner and a session will use after the page gets a new version with these files. Equal
 * contents count once. For the session, only the versions that the session deployed count. The caller has locked the
 * owner's pages.
 */
export async function measureUsage(
  tx: Transaction,
  { slug, ownerId, sessionId }: { slug: string; ownerId: string; sessionId: string },
  files: readonly Pick<PageFile, "hash" | "sizeBytes">[],
): Promise<{ session: ByteUsage; owner: ByteUsage }> {
  const given = JSON.stringify(files.map(({ hash, sizeBytes }) => ({ hash, size: sizeBytes })));
  const [row] = await queryRows<
    Record<"ownerTotal" | "ownerAdded" | "sessionTotal" | "sessionAdded", string>
  >(
    tx,
    sql`
      with stored as (
        select ${landingPageFiles.hash} as hash, max(${landingPageFiles.sizeBytes}) as size,
          bool_or(${landingPageVersions.deployedBy} = ${sessionId}) as of_session
        from ${landingPages}
        join ${landingPageVersions} on ${landingPageVersions.slug} = ${landingPages.slug}
        join ${landingPageFiles} on ${landingPageFiles.slug} = ${landingPageVersions.slug}
          and ${landingPageFiles.number} = ${landingPageVersions.number}
        where ${landingPages.ownerId} = ${ownerId}
          and (${landingPages.slug} <> ${slug} or ${landingPageVersions.number} in (
            select kept.number from ${landingPageVersions} kept where kept.slug = ${slug}
            order by kept.number desc limit ${PAGE_LIMITS.versions - 1}))
        group by ${landingPageFiles.hash}
      ), given as (
        select distinct hash, size from json_to_recordset(${given}::json) as file(hash text, size int)
      )
      select
        coalesce(sum(coalesce(stored.size, given.size)), 0) as "ownerTotal",
        coalesce(sum(given.size) filter (where stored.hash is null), 0) as "ownerAdded",
        coalesce(sum(coalesce(stored.size, given.size)) filter (where stored.of_session or given.hash is not null), 0)
          as "sessionTotal",
        coalesce(sum(given.size) filter (where stored.of_session is not true), 0) as "sessionAdded"
      from stored full join given on given.hash = stored.hash`,
  );
  if (!row) throw new Error("the usage of an owner was not measured");
  return {
    session: { total: Number(row.sessionTotal), added: Number(row.sessionAdded) },
    owner: { total: Number(row.ownerTotal), added: Number(row.ownerAdded) },
  };
}
