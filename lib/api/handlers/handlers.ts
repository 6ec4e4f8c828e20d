import { agentHandlers } from "./agent-handlers.ts";
import { annotationHandlers } from "./annotation-handlers.ts";
import { artifactHandlers } from "./artifact-handlers.ts";
import { browserFileHandlers } from "./browser-file-handlers.ts";
import { browserHandlers } from "./browser-handlers.ts";
import { budgetHandlers } from "./budget-handlers.ts";
import { callbackHandlers } from "./callback-handlers.ts";
import { creationHandlers } from "./creation-handlers.ts";
import { deliveryHandlers } from "./delivery-handlers.ts";
import { elicitationHandlers } from "./elicitation-handlers.ts";
import { embedHandlers } from "./embed-handlers.ts";
import { exportHandlers } from "./export-handlers.ts";
import { fileHandlers } from "./file-handlers.ts";
import type { Handlers } from "./handler.ts";
import { inboxHandlers } from "./inbox-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { landingPageHandlers } from "./landing-page-handlers.ts";
import { listHandlers } from "./list-handlers.ts";
import { loginHandlers } from "./login-handlers.ts";
import { messageHandlers } from "./message-handlers.ts";
import { planningHandlers } from "./planning-handlers.ts";
import { portingHandlers } from "./porting-handlers.ts";
import { publicationHandlers } from "./publication-handlers.ts";
import { queueHandlers } from "./queue-handlers.ts";
import { receiptHandlers } from "./receipt-handlers.ts";
import { reportHandlers } from "./report-handlers.ts";
import { requestHandlers } from "./request-handlers.ts";
import { serviceHandlers } from "./service-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";
import { shareLinkHandlers } from "./share-link-handlers.ts";
import { skillHandlers } from "./skill-handlers.ts";
import { statusHandlers } from "./status-handlers.ts";
import { testRunHandlers } from "./test-run-handlers.ts";
import { variantHandlers } from "./variant-handlers.ts";

/** The handler of each operation of the contract. TypeScript refuses the list if one is missing. */
export const handlers: Handlers = {
  ...creationHandlers,
  ...listHandlers,
  ...sessionHandlers,
  ...statusHandlers,
  ...requestHandlers,
  ...messageHandlers,
  ...browserHandlers,
  ...annotationHandlers,
  ...fileHandlers,
  ...deliveryHandlers,
  ...callbackHandlers,
  ...artifactHandlers,
  ...elicitationHandlers,
  ...inboxHandlers,
  ...shareLinkHandlers,
  ...budgetHandlers,
  ...agentHandlers,
  ...browserFileHandlers,
  ...variantHandlers,
  ...publicationHandlers,
  ...embedHandlers,
  ...exportHandlers,
  ...planningHandlers,
  ...landingPageHandlers,
  ...portingHandlers,
  ...skillHandlers,
  ...testRunHandlers,
  ...receiptHandlers,
  ...reportHandlers,
  ...serviceHandlers,
  ...queueHandlers,
  ...keyHandlers,
  ...loginHandlers,
};
