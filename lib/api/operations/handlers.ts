import type { Contract, OperationName } from "../contract/contract.ts";
import type { Handler } from "../operations/handler.ts";
import { cancelAgentAsPerson, listAgents, listPersonAgents, readAgentPicture } from "./agents.ts";
import { annotateAsPerson, listAnnotations, submitAnnotation } from "./annotations.ts";
import { readArtifact } from "./artifacts.ts";
import { readBrowser, readPagePicture, retargetBrowser, steerBrowser } from "./browser.ts";
import { changeBudget, readBudget } from "./budget.ts";
import { enableCallback, rotateCallbackSecret } from "./callbacks.ts";
import { createSession, startSession } from "./create-session.ts";
import { listDeliveries, redeliverCallback } from "./deliveries.ts";
import { answerElicitation, listElicitations } from "./elicitations.ts";
import { exportRevision, importVariant } from "./exports.ts";
import { createKey, listKeys, revokeKey, rotateEncryption, rotateKey, updateKey } from "./keys.ts";
import {
  listLandingPages,
  listPageVersions,
  listPersonPageVersions,
  listSessionPages,
  readLandingPage,
  rollbackPage,
  rollbackPersonPage,
  unpublishPage,
  unpublishPersonPage,
} from "./landing-pages.ts";
import { listMessages, listSessions } from "./lists.ts";
import { endLogin, listLogins, logOut } from "./logins.ts";
import { postMessage, postPersonMessage } from "./messages.ts";
import {
  addRequirements,
  agreePlan,
  editPlan,
  listRequirements,
  readPlan,
  setPlanMode,
  updateRequirement,
} from "./planning.ts";
import { exportSession, importIntoSession, listImports, readImport } from "./porting.ts";
import {
  acceptChanges,
  listPublicationReleases,
  listPublications,
  listReleases,
  publishVariant,
  readScript,
  rollbackPublication,
  rollbackVariant,
  unpublishPublication,
  unpublishVariant,
} from "./publications.ts";
import { editQueued, listQueue, removeQueued } from "./queue.ts";
import { listReports, readReport } from "./reports.ts";
import { streamRequest } from "./requests.ts";
import { createMcpToken, readHealth, readOpenApi, readReadiness } from "./service.ts";
import { deleteSession, readSession } from "./sessions.ts";
import {
  createShareLink,
  listPersonShareLinks,
  listShareLinks,
  revokeAllPersonShareLinks,
  revokeAllShareLinks,
  revokeShareLink,
} from "./share-links.ts";
import { listSkills } from "./skills.ts";
import { cancelTurn, readAgentStatus, readRequestStatus } from "./status.ts";
import { cancelTests, listTestRuns, readTestRun, rerunTests } from "./test-runs.ts";
import {
  checkAsPerson,
  editVariant,
  listPreviews,
  listVariants,
  readRevision,
  showVariant,
} from "./variants.ts";

/** The handler of each operation of the contract. */
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
  rotateCallbackSecret,
  enableCallback,
  redeliverPersonCallback: redeliverCallback,
  readArtifact,
  postPersonMessage,
  cancelPersonTurn: cancelTurn,
  listElicitations,
  answerElicitation,
  answerPersonElicitation: answerElicitation,
  listShareLinks,
  createShareLink,
  revokeShareLink,
  revokeAllShareLinks,
  listPersonShareLinks,
  createPersonShareLink: createShareLink,
  revokePersonShareLink: revokeShareLink,
  revokeAllPersonShareLinks,
  readBudget,
  changeBudget,
  listAgents,
  listPersonAgents,
  listAgentsBelow: listPersonAgents,
  cancelAgentAsPerson,
  listAgentMessages: listMessages,
  readAgentArtifact: readArtifact,
  readAgentPicture,
  listVariants,
  readRevision,
  listPreviews,
  acceptChanges,
  publishVariant,
  rollbackVariant,
  unpublishVariant,
  listReleases,
  exportRevision,
  importVariant,
  listPublications,
  listPublicationReleases,
  rollbackPublication,
  unpublishPublication,
  readScript,
  readPlan,
  editPlan,
  setPlanMode,
  agreePlan,
  listRequirements,
  addRequirements,
  updateRequirement,
  listLandingPages,
  readLandingPage,
  listPageVersions,
  rollbackPage,
  unpublishPage,
  listSessionPages,
  listPersonPageVersions,
  rollbackPersonPage,
  unpublishPersonPage,
  exportSession,
  exportAsPerson: exportSession,
  importIntoSession,
  importAsPerson: importIntoSession,
  listImports,
  readImport,
  listSkills,
  editVariant,
  checkAsPerson,
  showVariant,
  listTestRuns,
  readTestRun,
  rerunTests,
  cancelTests,
  listReports,
  readReport,
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
  updateKey,
  rotateKey,
  listLogins,
  endLogin,
  logOut,
  rotateEncryption,
  readHealth,
  readOpenApi,
  readReadiness,
};
