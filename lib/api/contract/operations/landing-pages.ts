import { landingPageSchema } from "#lib/events/event-schemas.ts";
import {
  DRIVER_AUTH,
  defineOperation,
  KEY_AUTH,
  type Operation,
  READER_AUTH,
  VISITOR_AUTH,
} from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import {
  landingPageChangedSchema,
  landingPageVersionSchema,
  ownedLandingPageSchema,
  pageRollbackSchema,
  readLandingPageSchema,
} from "../schemas/landing-pages.ts";
import { listQuerySchema } from "../schemas/queries.ts";

const PAGE = "/api/pages/:slug";
const PERSON_PAGE = "/s/:sessionId/actions/pages/:slug";

const versions = {
  method: "GET",
  summary: "List the versions of a landing page, newest first",
  rate: "poll",
  answers: { 200: listOf(landingPageVersionSchema) },
} as const;
const rollback = {
  method: "POST",
  summary: "Serve another version of a landing page",
  rate: "act",
  body: pageRollbackSchema,
  bodyBytesMax: 64 * 1024,
  answers: { 200: landingPageChangedSchema },
} as const;
const unpublish = {
  method: "POST",
  summary: "Unpublish a landing page",
  rate: "act",
  answers: { 200: landingPageChangedSchema },
} as const;

/** Operations on landing pages, for programs and for the session page. Source: `wire.md`, Landing pages. */
export const landingPageOperations = {
  listLandingPages: defineOperation({
    method: "GET",
    path: "/api/pages",
    summary: "List landing pages, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(ownedLandingPageSchema) },
  }),
  readLandingPage: defineOperation({
    method: "GET",
    path: PAGE,
    summary: "Read a landing page",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: readLandingPageSchema },
  }),
  listPageVersions: defineOperation({ ...versions, path: `${PAGE}/versions`, auth: KEY_AUTH }),
  rollbackPage: defineOperation({ ...rollback, path: `${PAGE}/rollback`, auth: KEY_AUTH }),
  unpublishPage: defineOperation({ ...unpublish, path: `${PAGE}/unpublish`, auth: KEY_AUTH }),
  listSessionPages: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/pages",
    summary: "List the landing pages of a session",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(landingPageSchema) },
  }),
  listPersonPageVersions: defineOperation({
    ...versions,
    path: `${PERSON_PAGE}/versions`,
    auth: VISITOR_AUTH,
  }),
  rollbackPersonPage: defineOperation({
    ...rollback,
    path: `${PERSON_PAGE}/rollback`,
    auth: DRIVER_AUTH,
    requiresJsonType: true,
  }),
  unpublishPersonPage: defineOperation({
    ...unpublish,
    path: `${PERSON_PAGE}/unpublish`,
    auth: DRIVER_AUTH,
  }),
} as const satisfies Record<string, Operation>;
