import type { VariantView } from "#lib/tools/services.ts";
import { variantScript } from "./compile/variant-script.ts";
import { readPageScript } from "./shown-variant.ts";
import { revertOthers, runInPage, untilApplied } from "./variant-in-page.ts";
import { findRevision, listVariantKeys } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/**
 * Creates a view that makes the live browser show a variant while a picture is taken. If `variant` is null, the live
 * browser shows the page without any variant. The function that `show` returns makes the live browser show the
 * session's shown variant again.
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
      const { immediate } = await readPageScript(db, rootSessionId);
      await runInPage(cdp, immediate);
    };
  },
});

/** Explains that a variant does not exist, and names the variants that exist. */
export const explainUnknown = (variant: string, keys: readonly string[]): string =>
  keys.length === 0
    ? `There is no variant ${variant}: the session has no variants yet.`
    : `There is no variant ${variant}. The session has ${keys.join(", ")}.`;
