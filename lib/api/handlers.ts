import type { Contract, OperationName } from "./contract.ts";
import { annotateAsPerson, listAnnotations, submitAnnotation } from "./operations/annotations.ts";
import { answerElicitation } from "./operations/answer-elicitation.ts";
import { readBrowser, readPagePicture, retargetBrowser, steerBrowser } from "./operations/browser.ts";
import { createMcpToken } from "./operations/create-mcp-token.ts";
import { createSession, startSession } from "./operations/create-session.ts";
import { listDeliveries, redeliverCallback } from "./operations/deliveries.ts";
import { readHealth, readReadiness } from "./operations/health.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./operations/keys.ts";
import { listMessages, listSessions } from "./operations/lists.ts";
import { postMessage, postPersonMessage } from "./operations/post-message.ts";
import { editQueued, listQueue, removeQueued } from "./operations/queue.ts";
import { readArtifact } from "./operations/read-artifact.ts";
import { readOpenApi } from "./operations/read-open-api.ts";
import { cancelTurn, readAgentStatus, readRequestStatus } from "./operations/read-status.ts";
import { deleteSession, readSession } from "./operations/session.ts";
import {
  createShareLink,
  listShareLinks,
  revokeAllPersonShareLinks,
  revokeAllShareLinks,
  revokeShareLink,
} from "./operations/share-links.ts";
import { streamRequest } from "./operations/stream-request.ts";
import type { Handler } from "./route.ts";

/** Who serves which operation of the contract. */
export const handlers: { [Name in OperationName]: Handler<Contract[Name]> } = {
  createSession,
  startSession,
  listSessions,
  readSession,
  deleteSession,
  readRequestStatus,
  streamRequest,
  readAgentStatus,
  postMessage,
  cancelTurn,
  readBrowser,
  readPagePicture,
  retargetBrowser,
  submitAnnotation,
  annotateAsPerson,
  listMessages,
  listAnnotations,
  listDeliveries,
  listPersonDeliveries: listDeliveries,
  redeliverCallback,
  redeliverPersonCallback: redeliverCallback,
  readArtifact,
  postPersonMessage,
  cancelPersonTurn: cancelTurn,
  answerElicitation,
  answerPersonElicitation: answerElicitation,
  listShareLinks,
  createShareLink,
  revokeShareLink,
  revokeAllShareLinks,
  listPersonShareLinks: listShareLinks,
  createPersonShareLink: createShareLink,
  revokePersonShareLink: revokeShareLink,
  revokeAllPersonShareLinks,
  createMcpToken,
  listQueue,
  listPersonQueue: listQueue,
  removeQueued,
  removePersonQueued: removeQueued,
  editQueued,
  editPersonQueued: editQueued,
  steerBrowser,
  listKeys,
  createKey,
  revokeKey,
  rotateKey,
  readHealth,
  readOpenApi,
  readReadiness,
};
