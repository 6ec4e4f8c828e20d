import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";

/** The user and group that an untrusted process runs as. Both ids are the same number. */
export type SandboxUser = { uid: number; gid: number };

/** The user `nobody`, for a process that gets no separate user. */
export const NOBODY: SandboxUser = { uid: 65_534, gid: 65_534 };

/**
 * Assigns user ids that belong to no account of this machine, each to one caller at a time, so that sessions cannot
 * access each other's processes and files.
 */
export type SandboxUsers = {
  /** Assigns a free user. @returns undefined when all are assigned. */
  assign: () => SandboxUser | undefined;
  /**
   * Like `assign`, but assigns the given user, who already owns files. Does not change the files. @returns undefined
   * when `uid` is outside the range, is already assigned, or is the id of an account.
   */
  assignOwner: (uid: number) => SandboxUser | undefined;
  /** Makes a user available again. The user must have no processes and no files. */
  release: (user: SandboxUser) => void;
  /** The range of user ids that can be assigned. */
  range: IdRange;
};

/** A range of ids. It includes `first` and `last`. */
type IdRange = { first: number; last: number };

/**
 * Ranges of user ids to assign, largest first. Neither distributions nor systemd assign ids of the first range. The
 * second range is for containers with only 65,536 ids. Systemd assigns ids of the second range, but does not run in
 * such containers (systemd, UIDS-GIDS.md).
 */
const RANGES: readonly IdRange[] = [
  { first: 1_879_048_192, last: 2_147_352_575 },
  { first: 61_184, last: 65_519 },
];
/** Number of random picks after which `assign` searches all ids in order for a free one. */
const PICKS_MAX = 20;

/**
 * Contents of the files that list the machine's accounts, their subordinate id ranges, and the ids that are mapped in
 * this user namespace.
 */
type AccountFiles = {
  passwd: string;
  group: string;
  subuid: string;
  subgid: string;
  uidMap: string;
  gidMap: string;
};

const ACCOUNT_PATHS: Record<keyof AccountFiles, string> = {
  passwd: "/etc/passwd",
  group: "/etc/group",
  subuid: "/etc/subuid",
  subgid: "/etc/subgid",
  uidMap: "/proc/self/uid_map",
  gidMap: "/proc/self/gid_map",
};

/** The assigned ids. All callers in this process share them, because user ids are the same for the whole machine. */
const assigned = new Set<number>();
let opened: Promise<SandboxUsers | undefined> | undefined;

/**
 * Returns the users that can be assigned on this machine (cached). Undefined if no range of ids is usable. Also
 * undefined if the service is not root, because it then cannot start processes as other users.
 */
export function openSandboxUsers(): Promise<SandboxUsers | undefined> {
  opened ??=
    process.getuid?.() === 0 ? readAccountFiles().then(findSandboxUsers) : Promise.resolve(undefined);
  return opened;
}

async function readAccountFiles(): Promise<AccountFiles> {
  const read = async (name: keyof AccountFiles) => {
    const text = await readFile(ACCOUNT_PATHS[name], "utf8").catch((error: NodeJS.ErrnoException) => {
      // Many systems have no files of subordinate ids. Any other failure is an error.
      if (error.code === "ENOENT") return "";
      throw error;
    });
    return [name, text] as const;
  };
  const names = Object.keys(ACCOUNT_PATHS) as (keyof AccountFiles)[];
  return Object.fromEntries(await Promise.all(names.map(read))) as AccountFiles;
}

/**
 * Finds a range of user ids to assign. @returns undefined when every range overlaps with subordinate ids or is not
 * mapped in this user namespace.
 */
export function findSandboxUsers(
  files: AccountFiles,
  assignedIds: Set<number> = assigned,
): SandboxUsers | undefined {
  const mapped = [files.uidMap, files.gidMap].map(readMap);
  const accounts = new Set([files.passwd, files.group].flatMap(readAccountIds));
  const subordinate = [files.subuid, files.subgid].flatMap(readSubordinateRanges);
  const isOverlapping = (range: IdRange) =>
    subordinate.some(({ first, last }) => first <= range.last && last >= range.first);
  const range = RANGES.find(
    ({ first, last }) =>
      !isOverlapping({ first, last }) &&
      mapped.every((parts) => parts.some((part) => part.first <= first && part.last >= last)),
  );
  if (!range) return undefined;
  const isFree = (id: number) => !assignedIds.has(id) && !accounts.has(id);
  const give = (id: number): SandboxUser => {
    assignedIds.add(id);
    return { uid: id, gid: id };
  };
  return {
    range,
    assign() {
      // Picks at random, so that independent services on one machine rarely assign the same user.
      for (let pick = 0; pick < PICKS_MAX; pick++) {
        const id = randomInt(range.first, range.last + 1);
        if (isFree(id)) return give(id);
      }
      for (let id = range.first; id <= range.last; id++) if (isFree(id)) return give(id);
      return undefined;
    },
    assignOwner: (uid) => (uid >= range.first && uid <= range.last && isFree(uid) ? give(uid) : undefined),
    release: ({ uid }) => void assignedIds.delete(uid),
  };
}

const readLines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

/** Reads the ids that exist in this user namespace, from lines of the form `inside outside count`. */
const readMap = (text: string): IdRange[] =>
  readLines(text).map((line) => {
    const [inside = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return { first: inside, last: inside + count - 1 };
  });

/** Reads the ids from lines of the form `name:password:id:…`. */
const readAccountIds = (text: string): number[] =>
  readLines(text).map((line) => Number(line.split(":")[2] ?? Number.NaN));

/** Reads the ranges from lines of the form `name:first:count`. */
const readSubordinateRanges = (text: string): IdRange[] =>
  readLines(text).map((line) => {
    const [, first = 0, count = 0] = line.split(":").map(Number);
    return { first, last: first + count - 1 };
  });
