/** Memory for request bodies. All requests share the budget, and each owner can use only a part of it. */
export type BodyBudget = {
  /** Opens the account of one body. */
  open: (request: BodyRequest) => BodyAccount;
};

type BodyRequest = {
  /** Who sends the body. Bodies of one owner share `shareBytes`. */
  owner: string;
  /** The size that the body can reach. */
  maxBytes: number;
  shareBytes: number;
  signal: AbortSignal;
};

type BodyAccount = {
  /**
   * Takes bytes that have arrived from the budget. If too few are free, waits until other bodies are closed.
   *
   * @returns false if the wait took too long or the signal was aborted.
   */
  reserve: (bytes: number) => Promise<boolean>;
  /** Gives all bytes of this body back. Later calls do nothing. */
  close: () => void;
};

type Account = BodyRequest & { held: number };
type Waiting = { account: Account; bytes: number; admit: () => void };

/**
 * Creates a budget. Bodies take the bytes that have arrived, not their declared size, so a stalled upload takes only
 * what it has sent. Bodies that have each received a part could then wait for each other without end. To prevent this, the
 * oldest body of all, and the oldest body of each owner, can always become complete: younger bodies leave the bytes
 * that the oldest body can still need.
 */
export function createBodyBudget(options: { bytes: number; waitMs: number }): BodyBudget {
  /** In the order in which they were opened. */
  const accounts = new Set<Account>();
  let waiting: Waiting[] = [];

  /** Whether `account` can take bytes of a limit that it shares with the accounts in `sharing`, oldest first. */
  function fits(account: Account, bytes: number, sharing: Account[], limit: number): boolean {
    const [oldest] = sharing;
    const used = sharing.reduce((sum, { held }) => sum + held, 0);
    // A body that is larger than the limit takes all of it.
    if (used === account.held) return true;
    const needed = oldest && oldest !== account ? Math.max(0, oldest.maxBytes - oldest.held) : 0;
    return used + bytes + Math.min(needed, limit - (oldest?.held ?? 0)) <= limit;
  }
  function canTake(account: Account, bytes: number): boolean {
    const all = [...accounts];
    const own = all.filter(({ owner }) => owner === account.owner);
    return fits(account, bytes, own, account.shareBytes) && fits(account, bytes, all, options.bytes);
  }
  /** Admits all waiting bodies for which there is room. A body that waits for its owner's share delays no other owner. */
  function admitWaiting(): void {
    for (const entry of waiting.filter(({ account, bytes }) => canTake(account, bytes)))
      if (canTake(entry.account, entry.bytes)) entry.admit();
  }

  function wait(account: Account, bytes: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (isAdmitted: boolean) => {
      clearTimeout(timer);
      account.signal.removeEventListener("abort", giveUp);
      waiting = waiting.filter((other) => other !== entry);
      if (isAdmitted) account.held += bytes;
      resolve(isAdmitted);
    };
    const giveUp = () => settle(false);
    const entry = { account, bytes, admit: () => settle(true) };
    const timer = setTimeout(giveUp, options.waitMs);
    account.signal.addEventListener("abort", giveUp);
    waiting.push(entry);
    if (account.signal.aborted) giveUp();
    return promise;
  }

  return {
    open(request) {
      const account: Account = { ...request, held: 0 };
      accounts.add(account);
      return {
        async reserve(bytes) {
          if (!canTake(account, bytes)) return wait(account, bytes);
          account.held += bytes;
          return true;
        },
        close() {
          if (accounts.delete(account)) admitWaiting();
        },
      };
    },
  };
}
