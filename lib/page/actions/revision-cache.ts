import type { VariantRevision, VariantView } from "../state/view-types.ts";
import type { ActionOutcome } from "./call-action.ts";
import type { SessionActions } from "./session-actions.ts";

/** Caches the newest revisions of variants that the page has read. A cached revision includes its newest check. */
export type RevisionCache = {
  /** Returns the newest revision of a variant if it is cached. */
  peek: (variant: VariantView) => VariantRevision | undefined;
  /** Returns the newest revision of a variant. Reads it from the service if it is not cached. */
  read: (variant: VariantView) => Promise<ActionOutcome<VariantRevision>>;
};

const REVISIONS_MAX = 30;

/**
 * Creates a cache of revisions. The cache key contains the time and the status of the newest check, because a new
 * check and an acceptance of its changes alter the answer of the service for a revision. Simultaneous reads share one call; a failed read is not cached.
 */
export function createRevisionCache(readRevision: SessionActions["readRevision"]): RevisionCache {
  const cached = new Map<string, VariantRevision>();
  const reading = new Map<string, Promise<ActionOutcome<VariantRevision>>>();

  async function readAndCache(id: string, variant: VariantView): Promise<ActionOutcome<VariantRevision>> {
    const outcome = await readRevision(variant.key, variant.revision);
    reading.delete(id);
    if (!outcome.isDone) return outcome;
    cached.set(id, outcome.answer);
    const [oldest] = cached.keys();
    if (cached.size > REVISIONS_MAX && oldest !== undefined) cached.delete(oldest);
    return outcome;
  }

  return {
    peek: (variant) => cached.get(idOf(variant)),
    async read(variant) {
      const id = idOf(variant);
      const existing = cached.get(id);
      if (existing) return { isDone: true, answer: existing };
      const read = reading.get(id) ?? readAndCache(id, variant);
      reading.set(id, read);
      return read;
    },
  };
}

const idOf = ({ key, revision, check }: VariantView): string =>
  `${key}@${revision}@${check?.at ?? ""}@${check?.status ?? ""}`;
