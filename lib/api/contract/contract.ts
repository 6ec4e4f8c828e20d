import type { Operation } from "./operation.ts";
import { agentPageOperations } from "./operations/agent-pages.ts";
import { agentOperations } from "./operations/agents.ts";
import { browserOperations } from "./operations/browser.ts";
import { browserFileOperations } from "./operations/browser-files.ts";
import { budgetOperations } from "./operations/budget.ts";
import { callbackOperations } from "./operations/callbacks.ts";
import { elicitationOperations } from "./operations/elicitations.ts";
import { embedOperations } from "./operations/embed.ts";
import { exportOperations } from "./operations/exports.ts";
import { fileOperations } from "./operations/files.ts";
import { followUpOperations } from "./operations/follow-ups.ts";
import { homeOperations } from "./operations/home.ts";
import { inboxOperations } from "./operations/inbox.ts";
import { keyOperations } from "./operations/keys.ts";
import { landingPageOperations } from "./operations/landing-pages.ts";
import { loginOperations } from "./operations/logins.ts";
import { mcpTokenOperations } from "./operations/mcp-tokens.ts";
import { pageOperations } from "./operations/pages.ts";
import { planningOperations } from "./operations/planning.ts";
import { portingOperations } from "./operations/porting.ts";
import { publicationOperations } from "./operations/publications.ts";
import { queueOperations } from "./operations/queue.ts";
import { receiptOperations } from "./operations/receipts.ts";
import { recordOperations } from "./operations/records.ts";
import { releaseOperations } from "./operations/releases.ts";
import { reportOperations } from "./operations/reports.ts";
import { requestOperations } from "./operations/requests.ts";
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
  ...budgetOperations,
  ...agentOperations,
  ...mcpTokenOperations,
  ...requestOperations,
  ...followUpOperations,
  ...queueOperations,
  ...elicitationOperations,
  ...inboxOperations,
  ...browserOperations,
  ...recordOperations,
  ...receiptOperations,
  ...fileOperations,
  ...callbackOperations,
  ...shareLinkOperations,
  ...pageOperations,
  ...embedOperations,
  ...homeOperations,
  ...agentPageOperations,
  ...browserFileOperations,
  ...variantOperations,
  ...releaseOperations,
  ...exportOperations,
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
