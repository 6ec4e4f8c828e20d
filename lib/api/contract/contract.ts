import type { Operation } from "./operation.ts";
import { agentPageOperations } from "./operations/agent-pages.ts";
import { browserOperations } from "./operations/browser.ts";
import { followUpOperations } from "./operations/follow-ups.ts";
import { keyOperations } from "./operations/keys.ts";
import { landingPageOperations } from "./operations/landing-pages.ts";
import { loginOperations } from "./operations/logins.ts";
import { pageOperations } from "./operations/pages.ts";
import { planningOperations } from "./operations/planning.ts";
import { portingOperations } from "./operations/porting.ts";
import { publicationOperations } from "./operations/publications.ts";
import { recordOperations } from "./operations/records.ts";
import { reportOperations } from "./operations/reports.ts";
import { serviceOperations } from "./operations/service.ts";
import { sessionOperations } from "./operations/sessions.ts";
import { shareLinkOperations } from "./operations/share-links.ts";
import { skillOperations } from "./operations/skills.ts";
import { testRunOperations } from "./operations/test-runs.ts";
import { variantOperations } from "./operations/variants.ts";

/**
 * Defines every operation of the HTTP interface. Routes, validation, rate limits, the OpenAPI document and the typed
 * client are all derived from this definition.
 */
export const contract = {
  ...sessionOperations,
  ...followUpOperations,
  ...browserOperations,
  ...recordOperations,
  ...shareLinkOperations,
  ...pageOperations,
  ...agentPageOperations,
  ...variantOperations,
  ...publicationOperations,
  ...reportOperations,
  ...testRunOperations,
  ...planningOperations,
  ...landingPageOperations,
  ...portingOperations,
  ...skillOperations,
  ...keyOperations,
  ...loginOperations,
  ...serviceOperations,
} as const satisfies Record<string, Operation>;

export type Contract = typeof contract;
export type OperationName = keyof Contract;
