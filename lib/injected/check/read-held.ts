import type { PageWatch } from "./page-watch.ts";

/** The state of changes on a load, by change id. */
export type Held = Record<string, { isApplied: boolean; matched: number; copies: number }>;

/** Reads which changes hold. */
export function readHeld(watch: PageWatch, ids: string[]): Held {
  const verdicts = watch.verdicts(false);
  const kit = watch.newKit();
  return Object.fromEntries(
    watch.changes
      .filter(({ id }) => ids.includes(id))
      .map((change) => {
        const { isApplied = false, matched = 0 } = verdicts[change.id] ?? {};
        return [change.id, { isApplied, matched, copies: watch.verifier.copies(kit, change) }];
      }),
  );
}
