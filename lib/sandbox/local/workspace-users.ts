import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxUser, SandboxUsers } from "#lib/isolation/sandbox-users.ts";

/**
 * Assigns a user to each session's workspace. After a restart, the owner of the workspace's folder shows who the user
 * is.
 */
export type WorkspaceUsers = {
  /** Returns the session's user; the first call assigns it. */
  of: (sessionId: string) => Promise<SandboxUser>;
  /** Frees the user after the workspace was removed. */
  release: (sessionId: string) => void;
  /**
   * Frees all users when the service closes. Their files stay, so the next start of the service finds the users as
   * owners.
   */
  close: () => void;
};

/**
 * Creates the assignment of users.
 *
 * @param folder the folder of all workspaces, each named for its session.
 * @param users undefined if the machine has no user ids to assign.
 * @param shared the user of all sessions that get no user of their own.
 */
export function createWorkspaceUsers(
  folder: string,
  users: SandboxUsers | undefined,
  shared: SandboxUser,
): WorkspaceUsers {
  const bySession = new Map<string, SandboxUser>();
  let ownersFound: Promise<void> | undefined;

  /** Assigns the owner of a session's folder, if the folder exists and its owner is in the range of assignable users. */
  async function assignOwner(from: SandboxUsers, sessionId: string): Promise<SandboxUser | undefined> {
    const owner = await lstat(join(folder, sessionId)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return owner && from.assignOwner(owner.uid);
  }
  /** Restores the users of workspaces that an earlier process created. */
  async function findOwners(from: SandboxUsers): Promise<void> {
    for (const name of await readdir(folder)) {
      const user = await assignOwner(from, name);
      if (user) bySession.set(name, user);
    }
  }
  const findOwnersOnce = (from: SandboxUsers) => {
    ownersFound ??= findOwners(from).catch((error: unknown) => {
      ownersFound = undefined;
      throw error;
    });
    return ownersFound;
  };

  const release = (sessionId: string) => {
    const user = bySession.get(sessionId);
    bySession.delete(sessionId);
    if (user && user !== shared) users?.release(user);
  };
  return {
    async of(sessionId) {
      if (!users) return shared;
      await findOwnersOnce(users);
      const existing = bySession.get(sessionId);
      if (existing) return existing;
      // Another process on the same volume may have created the folder in the meantime.
      const user = (await assignOwner(users, sessionId)) ?? users.assign() ?? shared;
      bySession.set(sessionId, user);
      return user;
    },
    release,
    close() {
      for (const sessionId of [...bySession.keys()]) release(sessionId);
      ownersFound = undefined;
    },
  };
}
