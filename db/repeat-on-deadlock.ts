const DEADLOCK = "40P01";
const TRIES = 5;

/**
 * Does a transaction again that the server ended to let another one go on; nothing of it was kept.
 *
 * @throws what the transaction throws otherwise, and what it throws when it was ended so five times.
 */
export async function repeatOnDeadlock<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact();
    } catch (error) {
      if (tries === TRIES || !isDeadlock(error)) throw error;
    }
  }
}

/** Whether the server says so, in the error or in one that it was wrapped in. */
function isDeadlock(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === DEADLOCK) || isDeadlock(error.cause);
}
