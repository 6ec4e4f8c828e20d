import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";

/** Who processes run as that the service does not trust. The group has the same number. */
export type SandboxUser = { uid: number; gid: number };

/** Assigns users that nothing else on this machine has, so that one session's processes and files are closed to another's. */
export type SandboxUsers = {
  /** @returns undefined when all are assigned. */
  assign: () => SandboxUser | undefined;
  /** Assigns the user of files that exist. @returns undefined when it is not one of these users, or is assigned already. */
  assignOwner: (uid: number) => SandboxUser | undefined;
  /** Gives a user back once it has neither processes nor files. */
  release: (user: SandboxUser) => void;
  /** The numbers that are assigned from. */
  range: IdRange;
};

/** Inclusive. */
type IdRange = { first: number; last: number };

/**
 * Numbers that neither distributions nor systemd give out, the largest range first; the second one is for containers that
 * have 65,536 numbers only, where no systemd uses it (systemd, UIDS-GIDS.md).
 */
const RANGES: readonly IdRange[] = [
  { first: 1_879_048_192, last: 2_147_352_575 },
  { first: 61_184, last: 65_519 },
];
/** The largest number of picks at random before the free ones are searched in order. */
const PICKS_MAX = 20;

/** Files with real accounts and with the ranges that are given to containers of accounts. */
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

/** Users belong to the machine: the parts of one process that assign them share this. */
const assigned = new Set<number>();
let opened: Promise<SandboxUsers | undefined> | undefined;

/** The users of this machine, found once; undefined when the service is not root and cannot start processes as others. */
export function openSandboxUsers(): Promise<SandboxUsers | undefined> {
  opened ??=
    process.getuid?.() === 0 ? readAccountFiles().then(findSandboxUsers) : Promise.resolve(undefined);
  return opened;
}

async function readAccountFiles(): Promise<AccountFiles> {
  const read = async (name: keyof AccountFiles) => {
    const text = await readFile(ACCOUNT_PATHS[name], "utf8").catch((error: NodeJS.ErrnoException) => {
      // Many systems have no subordinate ids; an unreadable list of accounts is a fault.
      if (error.code === "ENOENT") return "";
      throw error;
    });
    return [name, text] as const;
  };
  const names = Object.keys(ACCOUNT_PATHS) as (keyof AccountFiles)[];
  return Object.fromEntries(await Promise.all(names.map(read))) as AccountFiles;
}

/** @returns undefined when none of the ranges exists in this user namespace. */
export function findSandboxUsers(
  files: AccountFiles,
  taken: Set<number> = assigned,
): SandboxUsers | undefined {
  const mapped = [files.uidMap, files.gidMap].map(readMap);
  const accounts = new Set([files.passwd, files.group].flatMap(readAccountIds));
  const given = [files.subuid, files.subgid].flatMap(readSubordinateRanges);
  const isOverlapping = (range: IdRange) =>
    given.some(({ first, last }) => first <= range.last && last >= range.first);
  const range = RANGES.find(
    ({ first, last }) =>
      !isOverlapping({ first, last }) &&
      mapped.every((parts) => parts.some((part) => part.first <= first && part.last >= last)),
  );
  if (!range) return undefined;
  const isFree = (id: number) => !taken.has(id) && !accounts.has(id);
  const give = (id: number): SandboxUser => {
    taken.add(id);
    return { uid: id, gid: id };
  };
  return {
    range,
    assign() {
      // At random, so that services of one machine that do not know each other do not assign the same user.
      for (let pick = 0; pick < PICKS_MAX; pick++) {
        const id = randomInt(range.first, range.last + 1);
        if (isFree(id)) return give(id);
      }
      for (let id = range.first; id <= range.last; id++) if (isFree(id)) return give(id);
      return undefined;
    },
    assignOwner: (uid) => (uid >= range.first && uid <= range.last && isFree(uid) ? give(uid) : undefined),
    release: ({ uid }) => void taken.delete(uid),
  };
}

const readLines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

/** What of the host's numbers exists in this user namespace: `inside outside count`. */
const readMap = (text: string): IdRange[] =>
  readLines(text).map((line) => {
    const [inside = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return { first: inside, last: inside + count - 1 };
  });

/** `name:password:id:…` */
const readAccountIds = (text: string): number[] =>
  readLines(text).map((line) => Number(line.split(":")[2] ?? Number.NaN));

/** `name:first:count` */
const readSubordinateRanges = (text: string): IdRange[] =>
  readLines(text).map((line) => {
    const [, first = 0, count = 0] = line.split(":").map(Number);
    return { first, last: first + count - 1 };
  });
