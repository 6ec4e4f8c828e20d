const DEADLOCK = "40P01";
const ATTEMPTS_MAX = 5;

/**
 * Repeats a transaction that the server has rolled back to resolve a deadlock.
 *
 * @throws every other error of the transaction, and the error of the fifth deadlock.
 */
export async function repeatOnDeadlock<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isDeadlock(error)) throw error;
    }
  }
}

/** Whether an error reports a deadlock, or wraps such an error. */
function isDeadlock(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === DEADLOCK) || isDeadlock(error.cause);
}
