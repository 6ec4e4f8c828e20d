import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxUser, SandboxUsers } from "#lib/isolation/sandbox-users.ts";

/** The user of each session's workspace: the owner of its folder, so that it stays the same over restarts. */
export type WorkspaceUsers = {
  /** The session's user, assigned with the first call. */
  of: (sessionId: string) => Promise<SandboxUser>;
  /** Gives the user back once the workspace is removed. */
  release: (sessionId: string) => void;
  /** Gives all users back, for a service that closes: their files stay, and a later one finds them. */
  close: () => void;
};

/**
 * @param folder where workspaces lie, each named for its session.
 * @param shared the user of sessions for which none is left.
 */
export function createWorkspaceUsers(
  folder: string,
  users: SandboxUsers | undefined,
  shared: SandboxUser,
): WorkspaceUsers {
  const bySession = new Map<string, SandboxUser>();
  let found: Promise<void> | undefined;

  /** The owner of a session's folder, if it exists and is one of the users. */
  async function assignOwner(from: SandboxUsers, sessionId: string): Promise<SandboxUser | undefined> {
    const owner = await lstat(join(folder, sessionId)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return owner && from.assignOwner(owner.uid);
  }
  /** Workspaces of an earlier process keep their users. */
  async function findOwners(from: SandboxUsers): Promise<void> {
    for (const name of await readdir(folder)) {
      const user = await assignOwner(from, name);
      if (user) bySession.set(name, user);
    }
  }
  const findOwnersOnce = (from: SandboxUsers) => {
    found ??= findOwners(from).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
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
      // Another process may have made the folder since, on a volume that they share.
      const user = (await assignOwner(users, sessionId)) ?? users.assign() ?? shared;
      bySession.set(sessionId, user);
      return user;
    },
    release,
    close() {
      for (const sessionId of [...bySession.keys()]) release(sessionId);
      found = undefined;
    },
  };
}
