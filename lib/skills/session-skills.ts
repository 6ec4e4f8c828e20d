import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import type { SessionSkill } from "#db/schema/index.ts";
import type { SkillCatalogue } from "./catalogue/skill-catalogue.ts";
import { findVersions, insertVersions, type StoredVersion } from "./skill-store.ts";

/** A skill of a session, with its description and number of files. */
export type SkillSummary = SessionSkill & { description: string; fileCount: number };

/** Selects and describes the skills of sessions. */
export type SessionSkills = {
  /**
   * Returns the current skills of the deployment, for a session that is being created. Stores the versions that the
   * database does not have yet.
   */
  store: () => Promise<SessionSkill[]>;
  /** Describes the skills of a session, in the given order. Leaves out skills whose version is not stored. */
  describe: (skills: readonly SessionSkill[] | null) => Promise<SkillSummary[]>;
};

const CACHED_MAX = 256;

/** Creates a `SessionSkills`. Stored versions never change and are never removed, so the cache has no expiry. */
export function createSessionSkills(deps: { db: Database; catalogue: SkillCatalogue }): SessionSkills {
  const { db, catalogue } = deps;
  const cache = new LRUCache<string, StoredVersion>({ max: CACHED_MAX });

  async function find(versions: string[]): Promise<StoredVersion[]> {
    const found = versions.flatMap((version) => cache.get(version) ?? []);
    const cached = new Set(found.map(({ version }) => version));
    const read = await findVersions(
      db,
      versions.filter((version) => !cached.has(version)),
    );
    for (const row of read) cache.set(row.version, row);
    return [...found, ...read];
  }

  return {
    async store() {
      const skills = await catalogue.current();
      const stored = new Set(
        (await find(skills.map(({ version }) => version))).map(({ version }) => version),
      );
      const missing = skills.filter(({ version }) => !stored.has(version));
      await insertVersions(db, missing);
      for (const { version, name, description, files } of missing)
        cache.set(version, { version, name, description, fileCount: files.length });
      return skills.map(({ name, version, source }) => ({ name, version, source }));
    },
    async describe(skills) {
      const list = skills ?? [];
      const stored = new Map(
        (await find(list.map(({ version }) => version))).map((row) => [row.version, row]),
      );
      return list.flatMap((skill) => {
        const row = stored.get(skill.version);
        return row ? [{ ...skill, description: row.description, fileCount: row.fileCount }] : [];
      });
    },
  };
}
