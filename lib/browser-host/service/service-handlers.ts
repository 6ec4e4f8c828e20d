import type { Database } from "#db/client.ts";
import { isQueryError } from "#db/query-error.ts";
import type { HostBrowsersDeps } from "#lib/browser/host/host-parts.ts";
import type { AnnotationVerdict } from "#lib/browser/overlay/overlay-controller.ts";
import { createStoredRecords, type HostQueue } from "#lib/browser/store/stored-records.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { LinkHandlers } from "#lib/host-link/link.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Downloads } from "#lib/sandbox/store-download.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type { ScriptFiles, ScriptHelper } from "#lib/tools/browser/script/script-types.ts";
import type { VariantScripts } from "#lib/variant/show-for-picture.ts";
import type { ServiceCalls } from "../host-calls.ts";
import { findUnrecorded, LEASE_MS, renewHost } from "./host-store.ts";

/** What a process of the service does for its hosts. */
export type ServiceHandlersDeps = Pick<HostBrowsersDeps, "readPageScript"> & {
  db: Database;
  log: EventLog;
  sealer: Sealer;
  logger: Logger;
  /** The budget of one session's recording, in bytes. 0: none is kept. */
  recordingBytesMax: number;
  evidence: Pick<EvidenceStore, "save">;
  files: (rootSessionId: string) => ScriptFiles;
  downloads: (sessionId: string) => Promise<Downloads>;
  /** Stores a submission of the annotation overlay, once for each key. @see HostBrowsersDeps.onAnnotation */
  onAnnotation: (sessionId: string, body: string, key: string) => Promise<AnnotationVerdict>;
  variantScripts: VariantScripts;
  onRequestRefused: (refusal: NetworkRefusal) => void;
  control: Pick<BrowserControl, "apply">;
};

/** The functions that the scripts of running calls can call, by the id of the call. */
export type RunningHelpers = Map<string, Record<string, ScriptHelper>>;

type OneHost = HostQueue & {
  helpers: RunningHelpers;
  /** Where other machines reach this process. Undefined if they cannot, or if this process does not reach the host. */
  relayUrl: string | undefined;
  /** Called with the number of browsers that run at the host. */
  onRunning: (count: number) => void;
};

/** Creates the answers to the calls of one host. */
export function createServiceHandlers(
  deps: ServiceHandlersDeps,
  hostId: string,
  { helpers, relayUrl, onRunning, ...queue }: OneHost,
): LinkHandlers<ServiceCalls> {
  const { db, logger, evidence, files, variantScripts } = deps;
  const records = createStoredRecords(deps, hostId, queue);
  return hideStatements({
    ...records,
    async renewLease({ sessionIds, running, places }) {
      onRunning(running);
      const state = { load: sessionIds.length, places, ...(relayUrl !== undefined && { relayUrl }) };
      if (!(await renewHost(db, hostId, state))) return null;
      return { leaseMs: LEASE_MS, ...(await findUnrecorded(db, hostId, sessionIds)) };
    },
    async dropClaim(claim) {
      await records.dropClaim(claim);
      return null;
    },
    async patch(patch) {
      await records.patch(patch);
      return null;
    },
    async enqueue(session) {
      await records.enqueue(session);
      return null;
    },
    async seekElsewhere(seek) {
      await records.seekElsewhere(seek);
      return null;
    },
    async emit(event) {
      await records.emit(event);
      return null;
    },
    async keepPicture(picture) {
      await records.keepPicture(picture);
      return null;
    },
    async controlChanged({ state }) {
      deps.control.apply(state);
      return null;
    },
    readPageScript: ({ sessionId }) => deps.readPageScript(sessionId),
    submitAnnotation: ({ sessionId, body, key }) => deps.onAnnotation(sessionId, body, key),
    chooseDownloadPath: async ({ sessionId, name }) => (await deps.downloads(sessionId)).choosePath(name),
    storeDownload: async ({ sessionId, path, bytes }) => (await deps.downloads(sessionId)).store(path, bytes),
    saveEvidence: (picture) => evidence.save(picture),
    readFile: ({ sessionId, path, bytesMax }) => files(sessionId).read(path, bytesMax),
    async writeFile({ sessionId, path, bytes }) {
      await files(sessionId).write(path, bytes);
      return null;
    },
    async callHelper({ callId, name, args }) {
      const helper = helpers.get(callId)?.[name];
      if (!helper) throw new Error(`page.${name}: the call has ended`);
      return (await helper(...args)) ?? null;
    },
    readRevision: ({ sessionId, variant }) => variantScripts.readRevision(sessionId, variant),
    readShown: ({ sessionId }) => variantScripts.readShown(sessionId),
    async noteRefusal(refusal) {
      deps.onRequestRefused(refusal);
      return null;
    },
    async log({ level, fields, message }) {
      logger[level]({ ...fields, component: "browser host" }, message);
      return null;
    },
  });
}

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or continue without it.";

/** Replaces errors of the database: their messages contain statements and values, which must not reach the model. */
function hideStatements(handlers: LinkHandlers<ServiceCalls>): LinkHandlers<ServiceCalls> {
  const hidden = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await (handler as (...given: unknown[]) => Promise<unknown>)(...args);
      } catch (error) {
        throw isQueryError(error) ? new Error(SERVICE_FAILURE, { cause: error }) : error;
      }
    },
  ]);
  // The cast is safe: the object has the same functions, wrapped.
  return Object.fromEntries(hidden) as LinkHandlers<ServiceCalls>;
}
