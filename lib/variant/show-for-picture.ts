import type { VariantView } from "#lib/tools/services.ts";
import { variantScript } from "./compile/variant-script.ts";
import { readPageScript } from "./shown-variant.ts";
import { revertOthers, runInPage, untilApplied } from "./variant-in-page.ts";
import { findRevision, listVariantKeys } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/**
 * Makes the live browser show a variant, or the page without one, while a picture is taken. The function that `show` returns
 * restores the previous view.
 */
export const createVariantView = ({ db }: Pick<VariantsDeps, "db">): VariantView => ({
  async show({ rootSessionId }, live, variant) {
    const revision = variant === null ? undefined : await findRevision(db, rootSessionId, variant);
    if (variant !== null && !revision)
      throw new Error(explainUnknown(variant, await listVariantKeys(db, rootSessionId)));
    const cdp = await live.cdp();
    await runInPage(cdp, revertOthers(null));
    if (revision) {
      await runInPage(cdp, variantScript(revision.document, revision.variant));
      await untilApplied(cdp, revision.variant);
    }
    return async () => {
      const { now } = await readPageScript(db, rootSessionId);
      await runInPage(cdp, now);
    };
  },
});

/** A sentence saying that a variant does not exist, and which variants do. */
export const explainUnknown = (variant: string, keys: readonly string[]): string =>
  keys.length === 0
    ? `There is no variant ${variant}: the session has no variants yet.`
    : `There is no variant ${variant}. The session has ${keys.join(", ")}.`;
