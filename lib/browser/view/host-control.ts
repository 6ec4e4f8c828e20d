import type { PageEvent } from "../browser-records.ts";
import type { BrowserInput, HostBrowsers } from "../browser-service.ts";
import { type ControlLeases, createControlLeases } from "./control-leases.ts";
import type { ControlState, ControlTimes } from "./control-state.ts";
import { describeControl } from "./describe-control.ts";

/** Who has control of the browsers of a host, and what the agent and the event log get from it. */
export type HostControl = Omit<ControlLeases, "setHandedOver"> & {
  /** Returns what people did while they had control since the last call, as sentences for the model. Undefined if nothing. */
  takeNote: (sessionId: string) => Promise<string | undefined>;
  /**
   * Reads whether the browser of a session is handed over to people. While it is, reads it again every two seconds, because
   * the host is not told when a stop or a deadline ends a handover.
   */
  readHandover: (sessionId: string) => Promise<void>;
  /**
   * Call this before an input of a person, or another act, goes to the page. During a handover, resolves when the fields
   * of the page are watched, so that what the person fills is masked later. Inputs that wait keep their order. Undefined
   * if there is no handover.
   */
  beforeInput: (sessionId: string, input?: BrowserInput) => Promise<void> | undefined;
};

/** What is done in the page of a session during a handover. */
export type HandoverPages = {
  /** From now on, fields that change in the documents of the page are noted. The agent's tools mask them. */
  watchFields: (sessionId: string) => Promise<void>;
  /** Ends the watch, and forgets what happened in the page, so that no tool reports it. */
  end: (sessionId: string) => Promise<void>;
};

type HostControlDeps = {
  hostId: string;
  /** Undefined until the browsers have been created. */
  browsers: () =>
    | Pick<HostBrowsers, "input" | "setViewport" | "readField" | "addressOf" | "listLive">
    | undefined;
  /** Whether the browser of a session is handed over to people. */
  isHandedOver: (sessionId: string) => Promise<boolean>;
  /** Undefined until the browsers have been created. */
  handoverPages: () => HandoverPages | undefined;
  onChange: (state: ControlState) => void;
  /** Stores an event. */
  emit: (sessionId: string, event: PageEvent) => Promise<void>;
  logger: { debug: (fields: object, message: string) => void };
  times?: Partial<ControlTimes>;
  nowMs?: () => number;
};

/** The model gets what the last people did who had control. Further sessions are left out. */
const NOTES_MAX = 5;
const SESSIONS_MAX = 1_000;
const HANDOVER_MS = 2_000;

/** Creates the control of a host. */
export function createHostControl(deps: HostControlDeps): HostControl {
  const { browsers, logger } = deps;
  /** What the model has not been told yet, by session. */
  const notes = new Map<string, Promise<string>[]>();
  /** The last event of each session that is being stored: events keep their order. */
  const emitting = new Map<string, Promise<void>>();

  function emit(sessionId: string, event: PageEvent | Promise<PageEvent>): void {
    const before = emitting.get(sessionId) ?? Promise.resolve();
    const stored: Promise<void> = before
      .then(async () => deps.emit(sessionId, await event))
      .catch((error: unknown) =>
        logger.debug({ sessionId, err: error }, "an event of control was not stored"),
      )
      .finally(() => {
        if (emitting.get(sessionId) === stored) emitting.delete(sessionId);
      });
    emitting.set(sessionId, stored);
  }

  /** When to read the handover of each session again. */
  const timers = new Map<string, NodeJS.Timeout>();
  async function readHandover(sessionId: string): Promise<void> {
    clearTimeout(timers.get(sessionId));
    timers.delete(sessionId);
    const before = leases.isPrivate(sessionId);
    const isHandedOver = await deps.isHandedOver(sessionId).catch((error: unknown) => {
      logger.debug({ sessionId, err: error }, "it could not be read whether a browser is handed over");
      return before;
    });
    leases.setHandedOver(sessionId, isHandedOver);
    // A browser that does not run is not polled: its next start reads the handover.
    if (!isHandedOver || !browsers()?.listLive().includes(sessionId)) return;
    clearTimeout(timers.get(sessionId));
    timers.set(sessionId, setTimeout(() => void readHandover(sessionId), HANDOVER_MS).unref());
  }

  /** For each session whose pages are private, its last input that waits until the fields are watched. */
  const watching = new Map<string, Promise<void>>();
  function noteChange(state: ControlState): void {
    const { sessionId, isPrivate } = state;
    if (isPrivate && !watching.has(sessionId)) watching.set(sessionId, Promise.resolve());
    if (!isPrivate && watching.delete(sessionId))
      deps
        .handoverPages()
        ?.end(sessionId)
        .catch((error: unknown) =>
          logger.debug({ sessionId, err: error }, "the end of a handover did not reach the page"),
        );
    deps.onChange(state);
  }
  function beforeInput(sessionId: string, input?: BrowserInput): Promise<void> | undefined {
    const before = watching.get(sessionId);
    if (!before || (input && !mayFill(input))) return before;
    const watched = before
      .then(() => deps.handoverPages()?.watchFields(sessionId))
      .catch((error: unknown) => logger.debug({ sessionId, err: error }, "fields are not watched"));
    watching.set(sessionId, watched);
    return watched;
  }

  const leases = createControlLeases({
    ...deps,
    onChange: noteChange,
    readHandover,
    async input(sessionId, input) {
      await browsers()
        ?.input(sessionId, input)
        .catch((error: unknown) => logger.debug({ sessionId, err: error }, "a pressed key was not released"));
    },
    readField: async (sessionId) => (await browsers()?.readField(sessionId)) ?? null,
    addressOf: (sessionId) => browsers()?.addressOf(sessionId) ?? null,
    onTaken: (sessionId, taken) => emit(sessionId, { kind: "control.taken", ...taken }),
    onEnded(sessionId, record) {
      // The size of the page stays; its pictures are as sharp as before.
      browsers()
        ?.setViewport(sessionId, { size: null, scale: 1 })
        .catch((error: unknown) => logger.debug({ sessionId, err: error }, "the viewport was not reset"));
      emit(
        sessionId,
        record.then((done) => ({ kind: "control.ended", ...done })),
      );
      const all = [...(notes.get(sessionId) ?? []), record.then(describeControl)];
      notes.delete(sessionId);
      notes.set(sessionId, all.slice(-NOTES_MAX));
      const [oldest] = notes.keys();
      if (notes.size > SESSIONS_MAX && oldest !== undefined) notes.delete(oldest);
    },
  });
  const { setHandedOver: _, ...shown } = leases;
  return {
    ...shown,
    readHandover,
    beforeInput,
    async takeNote(sessionId) {
      const all = notes.get(sessionId);
      notes.delete(sessionId);
      return all && (await Promise.all(all)).join("\n");
    },
    drop(sessionId) {
      leases.drop(sessionId);
      notes.delete(sessionId);
      clearTimeout(timers.get(sessionId));
      timers.delete(sessionId);
      watching.delete(sessionId);
    },
    close() {
      leases.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** Whether an input can change the value of a field. */
function mayFill(input: BrowserInput): boolean {
  if (input.type === "wheel") return false;
  if (input.type === "mouse" || input.type === "key") return input.action === "down";
  return input.type !== "touch" || input.action === "start";
}
