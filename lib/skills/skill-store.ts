import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { type SessionSkill, sessions, skillFiles, skillVersions } from "#db/schema/index.ts";
import type { Skill, SkillFile } from "./skill.ts";

/** A stored version of a skill. Its files are not included. */
export type StoredVersion = { version: string; name: string; description: string; fileCount: number };
/** Path and size of a file in a stored version. The content is not included. */
export type StoredFile = { path: string; sizeBytes: number };

/** Returns those of the given versions that are stored. */
export async function findVersions(db: Executor, versions: readonly string[]): Promise<StoredVersion[]> {
  if (versions.length === 0) return [];
  const { version, name, description, fileCount } = skillVersions;
  return db
    .select({ version, name, description, fileCount })
    .from(skillVersions)
    .where(inArray(version, [...versions]));
}

/** Stores versions with their files. If another process stores the same version at the same time, it is stored only once. */
export async function insertVersions(db: Database, skills: readonly Skill[]): Promise<void> {
  for (const { version, name, description, files } of skills)
    await db.transaction(async (tx) => {
      const row = { version, name, description, fileCount: files.length };
      await tx.insert(skillVersions).values(row).onConflictDoNothing();
      const rows = files.map(({ path, bytes }) => ({ version, path, bytes }));
      await tx.insert(skillFiles).values(rows).onConflictDoNothing();
    });
}

/** The skills that a session was created with; undefined for a session that does not exist. */
export async function readSessionSkills(
  db: Executor,
  sessionId: string,
): Promise<readonly SessionSkill[] | undefined> {
  const [row] = await db.select({ skills: sessions.skills }).from(sessions).where(eq(sessions.id, sessionId));
  return row && (row.skills ?? []);
}

/** The files of a version, ordered by path. */
export const listFiles = (db: Executor, version: string): Promise<StoredFile[]> =>
  db
    .select({ path: skillFiles.path, sizeBytes: sql<number>`length(${skillFiles.bytes})` })
    .from(skillFiles)
    .where(eq(skillFiles.version, version))
    .orderBy(asc(sql`${skillFiles.path} collate "C"`));

/** Reads one file of a version, by its exact path. Undefined if there is no such file. */
export async function readFile(db: Executor, version: string, path: string): Promise<Uint8Array | undefined> {
  const [row] = await db
    .select({ bytes: skillFiles.bytes })
    .from(skillFiles)
    .where(and(eq(skillFiles.version, version), eq(skillFiles.path, path)));
  return row?.bytes;
}

/** All files of a version with their content. */
export const readFiles = (db: Executor, version: string): Promise<SkillFile[]> =>
  db
    .select({ path: skillFiles.path, bytes: skillFiles.bytes })
    .from(skillFiles)
    .where(eq(skillFiles.version, version));
