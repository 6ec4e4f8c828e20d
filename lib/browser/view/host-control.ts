import type { PageEvent } from "../browser-records.ts";
import type { HostBrowsers } from "../browser-service.ts";
import { type ControlLeases, createControlLeases } from "./control-leases.ts";
import type { ControlState, ControlTimes } from "./control-state.ts";
import { describeControl } from "./describe-control.ts";

/** Who has control of the browsers of a host, and what the agent and the event log get from it. */
export type HostControl = ControlLeases & {
  /** Returns what people did while they had control since the last call, as sentences for the model. Undefined if nothing. */
  takeNote: (sessionId: string) => Promise<string | undefined>;
};

type HostControlDeps = {
  hostId: string;
  /** Undefined until the browsers have been created. */
  browsers: () => Pick<HostBrowsers, "input" | "setViewport" | "readField" | "addressOf"> | undefined;
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

  const leases = createControlLeases({
    ...deps,
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
  return {
    ...leases,
    async takeNote(sessionId) {
      const all = notes.get(sessionId);
      notes.delete(sessionId);
      return all && (await Promise.all(all)).join("\n");
    },
    drop(sessionId) {
      leases.drop(sessionId);
      notes.delete(sessionId);
    },
  };
}
