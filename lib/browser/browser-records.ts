import type { NewEvent } from "#lib/events/event.ts";
import type { OpenTurn } from "#lib/session/store/run-store.ts";
import type { NextInQueue } from "./session/browser-places.ts";
import type { SiteDataChange, StoredSiteData } from "./state/site-data.ts";
import type { BrowserEvent } from "./store/browser-machine.ts";
import type { BrowserFields, BrowserPatch, BrowserRow, BrowserSession } from "./store/browser-store.ts";
import type { NewRecordedPicture } from "./store/recording-store.ts";

export type { BrowserFields, BrowserPatch, BrowserRow, BrowserSession };

/** A session, as a browser host reads it. */
type HostedSession = BrowserSession & {
  /**
   * The same for sessions of the same owner and user, which may share a Chromium. It reveals nothing about them.
   * Undefined if the process of the service is of an earlier version: the session then shares none.
   */
  ownerKey?: string;
};

/** An event of a page, without the fields that all events have. */
export type PageEvent =
  | OwnFields<"browser.dialog">
  | OwnFields<"browser.download">
  | OwnFields<"browser.waiting">
  | OwnFields<"control.taken">
  | OwnFields<"control.ended">;
type OwnFields<Kind extends NewEvent["kind"]> = Omit<
  Extract<NewEvent, { kind: Kind }>,
  "requestId" | "runId" | "source"
>;

/** A change of a browser's record. A change with an id that was made already has no effect. */
type Change = { sessionId: string; change: string };

/**
 * The stored records of browsers, as a browser host reads and changes them. Each change of a record emits a
 * `browser.status` event. A host has no database: `store/stored-records.ts` implements this in a process of the service.
 */
export type BrowserRecords = {
  /** Undefined if there is no such session. */
  readSession: (sessionId: string) => Promise<HostedSession | undefined>;
  /** Undefined if no browser was ever requested for the session. */
  read: (sessionId: string) => Promise<BrowserRow | undefined>;
  /** Changes the status. @throws Error when the status does not allow the event, or when another host has the browser. */
  move: (move: Change & { event: BrowserEvent; fields: BrowserFields }) => Promise<BrowserRow>;
  /** Records the end of the browser if the record says that this host runs or starts one. */
  dropClaim: (claim: Change) => Promise<void>;
  /**
   * Writes fields if the browser is `ready` and this host runs it. If the number of a retarget (a client's request to
   * show another page) is given, writes only if this retarget is the newest.
   */
  patch: (patch: Change & { fields: BrowserPatch; retargets?: number | undefined }) => Promise<void>;
  /** Puts the session into the queue of all hosts. Has no effect if it is in the queue, or if this host does not start it. */
  enqueue: (session: { sessionId: string }) => Promise<void>;
  /**
   * Takes the session that has waited longest out of the queue, for a place of this host. From then on this host starts
   * its browser. Null if no session waits at a host of which this host can take over. A repeat with the same id returns the
   * same session.
   */
  takeNext: (take: Pick<Change, "change">) => Promise<NextInQueue | null>;
  /** Returns the positions of the sessions that wait at this host, in the queue of all hosts. 1 is next. */
  listPositions: (none: null) => Promise<[sessionId: string, position: number][]>;
  /** Asks the other hosts for places for sessions that wait at this host. */
  seekElsewhere: (seek: { count: number }) => Promise<void>;
  emit: (event: Change & { event: PageEvent }) => Promise<void>;
  /** Returns the state of each session's open turn. Sessions without an open turn are left out. */
  findOpenTurns: (sessionIds: string[]) => Promise<[sessionId: string, turn: OpenTurn][]>;
  /** @see listSharedInUse */
  listSharedInUse: (sessionIds: string[]) => Promise<string[]>;
  /** Stores the last picture of a session's page. */
  keepPicture: (picture: { sessionId: string; mediaType: string; bytes: Uint8Array }) => Promise<void>;
  /** Adds a picture to the recording of a session's browser. @returns whether the service keeps recordings. */
  keepRecorded: (picture: NewRecordedPicture) => Promise<boolean>;
  /** Whether the browser is handed over to a person: nothing of its pages may be kept or shown to others. */
  isHandedOver: (of: { sessionId: string }) => Promise<boolean>;
  /** Reads the cookies and the storage of sites that the session's last browser has had. */
  readSiteData: (of: { sessionId: string }) => Promise<StoredSiteData>;
  /** Changes the stored site data. @returns false, without a change, if this host no longer runs that browser. */
  saveSiteData: (change: SiteDataChange) => Promise<boolean>;
};
