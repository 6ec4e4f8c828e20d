import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import { variantKeySchema } from "#lib/variant/document.ts";
import { exportJson } from "#lib/variant/formats/index.ts";
import { importVariant as importDocument } from "#lib/variant/import-variant.ts";
import { findRevision } from "#lib/variant/variant-store.ts";
import { attachment } from "../http/attachment.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";
import { readRevisionNumber } from "./variant-handlers.ts";

/** `GET …/variants/:variantKey/revisions/:revision/export?format=`: exports a revision. */
async function exportRevision(
  { db, exportKeyOf }: ApiServices,
  { params, query }: CallOf<"exportRevision">,
): Promise<Answer> {
  const number = readRevisionNumber(params.revision);
  const sessionId = await findRootOf(db, params.sessionId);
  const found = number && (await findRevision(db, sessionId, params.variantKey, number));
  if (!found) return fail("not_found", "no such revision");
  const { variant, document, check } = found;
  const { format } = query;
  const key = exportKeyOf(sessionId, variant);
  if (format !== "script") {
    const exported = exportJson(format, { key, variant, revision: number, document, check });
    const headers = {
      "Content-Disposition": attachment(`${variant}-r${number}${format === "json" ? "" : `.${format}`}.json`),
    };
    return {
      ok: true,
      status: 200,
      headers,
      body: { success: true, format, variant, revision: number, ...exported },
    };
  }
  const headers = {
    "Content-Type": "text/javascript; charset=utf-8",
    "Content-Disposition": attachment(`${variant}-r${number}.js`),
    "X-Content-Type-Options": "nosniff",
  };
  const script = variantScript(document, key);
  return new Response(`/* Revision ${number} of variant ${variant}. */\n${script}`, { headers });
}

/** `POST …/variants/:variantKey/import`: imports a document as a new revision of the variant. */
async function importVariant(
  { variants }: ApiServices,
  { params, body }: CallOf<"importVariant">,
): Promise<Answer> {
  const { format, document, baseRevision, ...options } = body;
  const { sessionId, variantKey: variant } = params;
  if (!variantKeySchema.safeParse(variant).success) return fail("not_found", "no variant can have this key");
  const imported = await importDocument(variants, {
    sessionId,
    variant,
    baseRevision,
    format,
    document,
    options,
  });
  if (imported.ok)
    return {
      ok: true,
      status: 201,
      body: { success: true, variant: imported.summary, omitted: imported.omitted },
    };
  const code = { invalid: "invalid_request", stale: "conflict", unknown: "not_found" } as const;
  return fail(code[imported.reason], imported.problem);
}

export const exportHandlers = {
  exportRevision,
  importVariant,
} satisfies Partial<Handlers>;
