import type { VariantSummary } from "#lib/events/event.ts";
import { checkDocumentContent } from "./compile/check-document.ts";
import type { VariantDocument } from "./document.ts";
import type { ImportOptions } from "./formats/imported/imported.ts";
import { importPages, type JsonFormat } from "./formats/index.ts";
import { describeProblem, revise, type UsedIds } from "./revise.ts";
import { storeRevision } from "./store-revision.ts";
import { readVariantHistory } from "./variant-history-store.ts";
import { findRevision } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/**
 * A request to import a document as a revision of a variant. The document comes from this service or from another tool.
 */
type ImportRequest = {
  sessionId: string;
  variant: string;
  /** The newest revision that the author has seen; 0 for a new variant. */
  baseRevision: number;
  format: JsonFormat;
  document: unknown;
  options: ImportOptions;
};

type ImportedVariant =
  | { ok: true; summary: VariantSummary; omitted: string[] }
  | { ok: false; reason: "invalid" | "stale" | "unknown"; problem: string };

/** The result of converting a document. `omitted` has one sentence for each part that was left out. */
type ReadVariant =
  | { ok: true; document: VariantDocument; omitted: string[] }
  /** `problem` begins with the path of the invalid field. */
  | { ok: false; problem: string };

/** The newest document of a variant, and the ids that its changes have had. */
type ExistingVariant = { document: VariantDocument; used: UsedIds };

const NEW_VARIANT: ExistingVariant = { document: { pages: [] }, used: { lastNumber: 0, ids: new Set() } };

/**
 * Validates a document of this service or of another tool, and converts it to the content of a revision. Has no side
 * effects.
 *
 * @param existing the variant whose content is replaced. Its changes keep their ids, and no id is used again.
 */
export function readVariantDocument(
  format: JsonFormat,
  value: unknown,
  options: ImportOptions,
  existing: ExistingVariant = NEW_VARIANT,
): ReadVariant {
  const imported = importPages(format, unwrap(format, value), options);
  if (!imported.ok) return { ok: false, problem: nameField(imported.problem) };
  const { omitted } = imported;
  const revised = revise(existing.document, { set: imported.pages }, null, existing.used);
  if (!revised.ok) return { ok: false, problem: `document: ${revised.problem}` };
  const { document } = revised;
  const [flaw] = checkDocumentContent(document);
  if (flaw) return { ok: false, problem: `document: ${describeProblem(document, flaw)}` };
  if (document.pages.length > 0) return { ok: true, document, omitted };
  const nothing = "document: contains nothing that can be imported";
  return { ok: false, problem: [nothing, ...omitted.slice(0, 3)].join("; ") };
}

/**
 * Stores an imported document as the newest revision of a variant, with a person as its author. Nothing is kept of the
 * previous revision's content.
 */
export async function importVariant(deps: VariantsDeps, request: ImportRequest): Promise<ImportedVariant> {
  const { sessionId, variant, baseRevision, format, options } = request;
  const { used } = await readVariantHistory(deps.db, sessionId, variant);
  const newest = await findRevision(deps.db, sessionId, variant);
  const existing = { used, document: newest?.document ?? NEW_VARIANT.document };
  const imported = readVariantDocument(format, request.document, options, existing);
  if (!imported.ok) return { ...imported, reason: "invalid" };
  const { document } = imported;
  const about = { sessionId, variant, baseRevision, author: "person" } as const;
  const stored = await storeRevision(deps, {
    ...about,
    document,
    requestId: null,
    runId: null,
    callId: null,
  });
  if (stored.ok) return { ok: true, summary: stored.summary, omitted: imported.omitted };
  if (stored.reason === "unknown session")
    return { ok: false, reason: "unknown", problem: "no such session" };
  if (stored.reason === "refused") return { ok: false, reason: "stale", problem: stored.problem };
  const advice =
    stored.newest === 0
      ? "the variant does not exist; send 0"
      : `the newest revision is ${stored.newest}; send that to replace it`;
  return { ok: false, reason: "stale", problem: `baseRevision: ${advice}` };
}

/** Returns the field `document` if `value` is the whole response of an export, which people often save. */
function unwrap(format: JsonFormat, value: unknown): unknown {
  const isAnswer =
    typeof value === "object" &&
    value !== null &&
    "success" in value &&
    "document" in value &&
    "format" in value &&
    value.format === format;
  return isAnswer ? value.document : value;
}

/**
 * Prepends `document` to a problem that begins with a path inside the document. Does not change a problem that already
 * begins with the name of a request field.
 */
function nameField(problem: string): string {
  if (/^(document|experiment|variation|url)\b/.test(problem)) return problem;
  return problem.startsWith("[") ? `document${problem}` : `document.${problem}`;
}
