import { isDeepStrictEqual } from "node:util";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { errorText } from "#lib/text/error-text.ts";
import { checkDocumentContent } from "#lib/variant/compile/check-document.ts";
import { listPreviews as readPreviews } from "#lib/variant/previews/preview-store.ts";
import { describeProblem, editChanges } from "#lib/variant/revise.ts";
import { runCheck } from "#lib/variant/run-check.ts";
import { showVariant as chooseShown, storeRevision } from "#lib/variant/store-revision.ts";
import { findRevision, listVariantSummaries } from "#lib/variant/variant-store.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/**
 * `GET …/variants`: lists the variants of the session. A sub-agent works on the variants of its root session. Source:
 * `wire.md`, Variants.
 */
async function listVariants(
  { db, settings }: ApiServices,
  { params }: CallOf<"listVariants">,
): Promise<Answer> {
  const data = await listVariantSummaries(db, await findRootOf(db, params.sessionId), settings.baseUrl);
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

const REVISION = /^[1-9]\d{0,8}$/;

/** Parses the number of a revision in a path. Undefined for any other text. */
export const readRevisionNumber = (text: string): number | undefined =>
  REVISION.test(text) ? Number(text) : undefined;

/** `GET …/variants/:variantKey/revisions/:revision`: returns a revision with its newest check. */
async function readRevision({ db }: ApiServices, { params }: CallOf<"readRevision">): Promise<Answer> {
  const number = readRevisionNumber(params.revision);
  const root = await findRootOf(db, params.sessionId);
  const found = number && (await findRevision(db, root, params.variantKey, number));
  if (!found) return fail("not_found", "no such revision");
  const { variant, author, document, check, isShown, createdAt } = found;
  const about = { variant, revision: found.number, author, createdAt: createdAt.toISOString(), isShown };
  return { ok: true, status: 200, body: { success: true, revision: { ...about, document, check } } };
}

/** `GET …/previews`: lists the previews of the session. A sub-agent shares the previews of its root session. */
async function listPreviews({ db }: ApiServices, { params }: CallOf<"listPreviews">): Promise<Answer> {
  const data = await readPreviews(db, await findRootOf(db, params.sessionId));
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** Stores the edits of a person as a new revision, with `person` as the author, unless the edits change nothing. */
async function editVariant(
  { variants, settings }: ApiServices,
  { params, body }: CallOf<"editVariant">,
): Promise<Answer> {
  const { sessionId, variantKey } = params;
  const { baseRevision, edits } = body;
  const newest = await findRevision(variants.db, sessionId, variantKey);
  if (!newest) return fail("not_found", "no such variant");
  if (newest.number !== baseRevision) return stale(newest.number);
  const edited = editChanges(newest.document, edits);
  if (!edited.ok) return fail("invalid_request", edited.problem);
  const [problem] = checkDocumentContent(edited.document);
  if (problem) return fail("invalid_request", `edits: ${describeProblem(edited.document, problem)}`);
  // An identical revision is not stored again, because the new revision would have no check.
  if (isDeepStrictEqual(edited.document, newest.document)) {
    const summaries = await listVariantSummaries(variants.db, sessionId, settings.baseUrl);
    const variant = summaries.find(({ key }) => key === variantKey);
    return variant
      ? { ok: true, status: 200, body: { success: true, variant } }
      : fail("not_found", "no such variant");
  }
  const stored = await storeRevision(variants, {
    sessionId,
    variant: variantKey,
    baseRevision,
    author: "person",
    document: edited.document,
    requestId: null,
    runId: null,
    callId: null,
  });
  if (stored.ok) return { ok: true, status: 201, body: { success: true, variant: stored.summary } };
  if (stored.reason === "stale") return stale(stored.newest);
  return stored.reason === "refused" ? fail("conflict", stored.problem) : unknownSession();
}

const stale = (newest: number) =>
  fail("conflict", `baseRevision: the newest revision is ${newest}; read it and apply the edits to it`);

/** Maximum duration of a check that a person starts, including the wait for a browser. */
const CHECK_MS_MAX = 300_000;
/** Sessions in which a check that a person started is in progress. */
const checking = new Set<string>();

/** Checks the newest revision of a variant for a person. Answers when the report is stored. */
async function checkAsPerson(
  { variants, db, settings }: ApiServices,
  { params, body }: CallOf<"checkAsPerson">,
): Promise<Answer> {
  const { sessionId, variantKey } = params;
  if (!(await findRevision(db, sessionId, variantKey))) return fail("not_found", "no such variant");
  if (checking.has(sessionId)) return fail("conflict", "a check is in progress");
  const call = {
    sessionId,
    browserSessionId: sessionId,
    rootSessionId: sessionId,
    requestId: null,
    runId: null,
    callId: null,
    signal: AbortSignal.timeout(CHECK_MS_MAX),
  };
  checking.add(sessionId);
  try {
    const release = await variants.hold({ ...call, sessionId: `a person at ${sessionId}` });
    const checked = await runCheck(variants, call, { variant: variantKey, ...body }).finally(release);
    if (!checked.ok) return fail("conflict", checked.problem);
  } catch (error) {
    return fail("conflict", errorText(error));
  } finally {
    checking.delete(sessionId);
  }
  const variant = (await listVariantSummaries(db, sessionId, settings.baseUrl)).find(
    ({ key }) => key === variantKey,
  );
  return variant
    ? { ok: true, status: 200, body: { success: true, variant } }
    : fail("not_found", "no such variant");
}

/** Sets the variant that the live browser shows. Null shows the page without a variant. */
async function showVariant(
  { variants }: ApiServices,
  { params, body }: CallOf<"showVariant">,
): Promise<Answer> {
  if (!(await chooseShown(variants, params.sessionId, body.variant)))
    return fail("invalid_request", `variant: the session has no variant ${body.variant}`);
  return { ok: true, status: 200, body: { success: true, variant: body.variant } };
}

export const variantHandlers = {
  listVariants,
  readRevision,
  listPreviews,
  editVariant,
  checkAsPerson,
  showVariant,
} satisfies Partial<Handlers>;
