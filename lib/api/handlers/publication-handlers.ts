import {
  findPublicationOf,
  type PublicationRow,
  readPublication,
  listPublications as readPublications,
  listReleases as readReleases,
} from "#lib/publication/publication-store.ts";
import { toPublication } from "#lib/publication/release.ts";
import { scriptUrls } from "#lib/publication/script-address.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { acceptChanges as accept } from "#lib/variant/accept-changes.ts";
import {
  changePublication,
  type PublishResult,
  publishVariant as publish,
} from "#lib/variant/publish-variant.ts";
import { findRevision } from "#lib/variant/variant-store.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { cutPage, readRange, unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

/** `POST …/variants/:variantKey/accept`: accepts changes that the check of the newest revision could not examine. */
async function acceptChanges(
  { variants }: ApiServices,
  { params, body, caller, actor }: CallOf<"acceptChanges">,
): Promise<Answer> {
  if (actor === undefined) throw new Error("an admitted call to a session has no actor");
  const accepted = await accept(variants, {
    sessionId: params.sessionId,
    variant: params.variantKey,
    ...body,
    by: caller ? "caller" : "person",
    actor,
  });
  if (accepted.ok) return { ok: true, status: 200, body: { success: true, variant: accepted.summary } };
  const { reason, problem } = accepted;
  if (reason === "unknown variant") return fail("not_found", "no such variant");
  return fail(reason === "unknown change" ? "invalid_request" : "conflict", problem);
}

/**
 * `POST …/variants/:variantKey/publish`: returns 201 with a new release. Returns 200 without a new release if the
 * current release already has the revision, unless that release is unchecked and the revision has passed a check since.
 */
async function publishVariant(
  { variants }: ApiServices,
  { params, body }: CallOf<"publishVariant">,
): Promise<Answer> {
  const published = await publish(variants, {
    sessionId: params.sessionId,
    variant: params.variantKey,
    author: "person",
    revision: body.revision,
    allowsUnchecked: body.unchecked === true,
    requestId: null,
    runId: null,
    callId: null,
  });
  if (published.ok) {
    const { isNew, publication, summary } = published;
    return { ok: true, status: isNew ? 201 : 200, body: { success: true, publication, variant: summary } };
  }
  const { reason, problem } = published;
  return reason === "unknown"
    ? fail("not_found", "no such variant")
    : fail("conflict", `${FIELDS[reason]}${problem}${ADVICE[reason]}`);
}

type Refused = Exclude<Extract<PublishResult, { ok: false }>["reason"], "unknown">;

/** The field of the request that a refusal to publish is about. */
const FIELDS: Record<Refused, string> = {
  stale: "revision: ",
  unchecked: "unchecked: ",
  failed: "unchecked: ",
  unaccepted: "unchecked: ",
  full: "",
};

const ADVICE: Record<Refused, string> = {
  stale: "",
  unchecked: "; check it on the session page or ask the agent to, or send unchecked: true",
  failed: "; correct it and check it again, or send unchecked: true",
  unaccepted: "; accept this on the session page or with POST …/accept, or send unchecked: true",
  full: "",
};

/** `POST …/variants/:variantKey/rollback`: makes another release of the variant the current one. */
async function rollbackVariant(
  services: ApiServices,
  { params, body }: CallOf<"rollbackVariant">,
): Promise<Answer> {
  const publication = await findPublicationOf(services.db, params.sessionId, params.variantKey);
  return publication ? change(services, publication.id, body) : notPublished();
}

/** `POST …/variants/:variantKey/unpublish`: unpublishes the variant. */
async function unpublishVariant(
  services: ApiServices,
  { params }: CallOf<"unpublishVariant">,
): Promise<Answer> {
  const publication = await findPublicationOf(services.db, params.sessionId, params.variantKey);
  return publication ? change(services, publication.id, "unpublish") : notPublished();
}

const notPublished = () => fail("not_found", "this variant was never published");

async function change(
  { variants }: ApiServices,
  publicationId: string,
  wanted: Parameters<typeof changePublication>[2],
): Promise<Answer> {
  const changed = await changePublication(variants, publicationId, wanted);
  if (changed.ok) return { ok: true, status: 200, body: { success: true, publication: changed.publication } };
  return changed.reason === "unknown release"
    ? fail("invalid_request", "release: is not a release of this publication")
    : fail("not_found", "no such publication");
}

/**
 * `GET …/variants/:variantKey/releases`: lists the releases of the variant. A sub-agent shares the variants of its root
 * session.
 */
async function listReleases(
  { db, settings }: ApiServices,
  { params }: CallOf<"listReleases">,
): Promise<Answer> {
  const root = await findRootOf(db, params.sessionId);
  const publication = await findPublicationOf(db, root, params.variantKey);
  if (!publication && !(await findRevision(db, root, params.variantKey)))
    return fail("not_found", "no such variant");
  return answerReleases({ db, settings }, publication);
}

/** `GET /api/publications/:publicationId/releases`: lists the releases of a publication. */
async function listPublicationReleases(
  services: ApiServices,
  { caller, params }: CallOf<"listPublicationReleases">,
): Promise<Answer> {
  const publication = await readPublication(services.db, params.publicationId);
  const isOwn = publication?.ownerId === caller.ownerId;
  return isOwn ? answerReleases(services, publication) : fail("not_found", "no such publication");
}

async function answerReleases(
  { db, settings }: Pick<ApiServices, "db" | "settings">,
  publication: PublicationRow | undefined,
): Promise<Answer> {
  const rows = publication ? await readReleases(db, publication.id) : [];
  const data = rows.map(({ id, number, revision, author, checkStatus, checkedAt, ...row }) => ({
    id,
    number,
    revision,
    author,
    check: checkStatus && checkedAt ? { status: checkStatus, at: checkedAt.toISOString() } : null,
    isUnchecked: row.isUnchecked,
    isCurrent: number === publication?.release,
    isUnpublished: row.withdrawnAt !== null,
    pinnedScriptUrl: scriptUrls(settings.baseUrl, row.publicationId, number).pinnedScriptUrl,
    integrity: row.integrity,
    createdAt: row.createdAt.toISOString(),
  }));
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** `GET /api/publications`: lists the publications of the key's owner, including publications of deleted sessions. */
async function listPublications(
  { db, settings }: ApiServices,
  { caller, query }: CallOf<"listPublications">,
): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const rows = await readPublications(db, caller.ownerId, range);
  const { page, nextCursor } = cutPage(rows, range, ({ publication }) => publication);
  const data = page.map(({ publication, release }) => ({
    id: publication.id,
    sessionId: publication.sessionId,
    variant: publication.variant,
    publication: release && toPublication(settings.baseUrl, release),
    createdAt: publication.createdAt.toISOString(),
    updatedAt: publication.updatedAt.toISOString(),
  }));
  return { ok: true, status: 200, body: { success: true, data, nextCursor } };
}

/** `POST /api/publications/:publicationId/rollback`: makes another release of the publication the current one. */
async function rollbackPublication(
  services: ApiServices,
  { caller, params, body }: CallOf<"rollbackPublication">,
): Promise<Answer> {
  const publication = await readPublication(services.db, params.publicationId);
  const isOwn = publication?.ownerId === caller.ownerId;
  return isOwn ? change(services, publication.id, body) : fail("not_found", "no such publication");
}

/** `POST /api/publications/:publicationId/unpublish`: unpublishes the publication. */
async function unpublishPublication(
  services: ApiServices,
  { caller, params }: CallOf<"unpublishPublication">,
): Promise<Answer> {
  const publication = await readPublication(services.db, params.publicationId);
  const isOwn = publication?.ownerId === caller.ownerId;
  return isOwn ? change(services, publication.id, "unpublish") : fail("not_found", "no such publication");
}

/** `GET /v/:script`: serves the script of a publication or of a single release. */
async function readScript(
  { publishedScripts }: ApiServices,
  { params, request }: CallOf<"readScript">,
): Promise<Answer> {
  const { headers } = request;
  const answer = await publishedScripts.answer(params.script, {
    ifNoneMatch: headers.get("if-none-match"),
    acceptEncoding: headers.get("accept-encoding"),
  });
  if (answer.status === 404) return fail("not_found", answer.error, answer.headers);
  if (answer.status === 410) return fail("gone", answer.error, answer.headers);
  return new Response(answer.status === 200 ? answer.body : null, answer);
}

export const publicationHandlers = {
  acceptChanges,
  publishVariant,
  rollbackVariant,
  unpublishVariant,
  listReleases,
  listPublications,
  listPublicationReleases,
  rollbackPublication,
  unpublishPublication,
  readScript,
} satisfies Partial<Handlers>;
