/**
 * Creates the locks of one workspace: a function that runs work one after the other for each path, so that no other
 * change comes between the check of a file and its change. They hold for this process.
 */
export function createPathLocks() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(path);
    const current = (before ?? Promise.resolve()).then(work);
    // The next work of the path also begins after a failure.
    const ended = current.then(
      () => {},
      () => {},
    );
    last.set(path, ended);
    try {
      return await current;
    } finally {
      if (last.get(path) === ended) last.delete(path);
    }
  };
}
