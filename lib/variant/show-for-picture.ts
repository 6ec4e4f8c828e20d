import type { Database } from "#db/client.ts";
import type { VariantView } from "#lib/tools/browser/host-services.ts";
import { variantScript } from "./compile/variant-script.ts";
import { readPageScript } from "./shown-variant.ts";
import { revertOthers, runInPage, untilApplied } from "./variant-in-page.ts";
import { findRevision, listVariantKeys } from "./variant-store.ts";

/** Reads the scripts with which a page shows variants. */
export type VariantScripts = {
  /** Returns the script of a variant's newest revision. @throws Error with a sentence if there is no such variant. */
  readRevision: (rootSessionId: string, variant: string) => Promise<string>;
  /** Returns the script that makes the page show what it is to show now. */
  readShown: (rootSessionId: string) => Promise<string>;
};

/** Reads the scripts of variants from the database. */
export const createVariantScripts = (db: Database): VariantScripts => ({
  async readRevision(rootSessionId, variant) {
    const revision = await findRevision(db, rootSessionId, variant);
    if (!revision) throw new Error(explainUnknown(variant, await listVariantKeys(db, rootSessionId)));
    return variantScript(revision.document, revision.variant);
  },
  readShown: async (rootSessionId) => (await readPageScript(db, rootSessionId)).immediate,
});

/**
 * Creates a view that makes the live browser show a variant while a picture is taken. If `variant` is null, the live
 * browser shows the page without any variant. The function that `show` returns makes the live browser show the
 * session's shown variant again.
 */
export const createVariantView = (scripts: VariantScripts): VariantView => ({
  async show({ rootSessionId }, live, variant) {
    const script = variant === null ? undefined : await scripts.readRevision(rootSessionId, variant);
    const cdp = await live.cdp();
    await runInPage(cdp, revertOthers(null));
    if (variant !== null && script !== undefined) {
      await runInPage(cdp, script);
      await untilApplied(cdp, variant);
    }
    return async () => {
      await runInPage(cdp, await scripts.readShown(rootSessionId));
    };
  },
});

/** Explains that a variant does not exist, and names the variants that exist. */
export const explainUnknown = (variant: string, keys: readonly string[]): string =>
  keys.length === 0
    ? `There is no variant ${variant}: the session has no variants yet.`
    : `There is no variant ${variant}. The session has ${keys.join(", ")}.`;
