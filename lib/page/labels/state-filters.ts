import type { SessionStateWord } from "#db/schema/unions.ts";

/** The choices of the filter of the session list, and the states that each of them shows. */
export const STATE_FILTERS = {
  all: { label: "All states", states: [] },
  working: { label: "Working", states: ["starting", "working", "compacting", "retrying"] },
  waiting: { label: "Waiting for you", states: ["waiting"] },
  done: { label: "Done", states: ["ready", "done"] },
  problems: { label: "Failed or stopped", states: ["failed", "no_result", "page_error", "stopped"] },
} as const satisfies Record<string, { label: string; states: readonly SessionStateWord[] }>;

export type StateFilter = keyof typeof STATE_FILTERS;
