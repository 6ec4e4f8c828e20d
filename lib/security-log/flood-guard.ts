import type { SecurityEventKind } from "./security-events.ts";

const WINDOW_MS = 60_000;
/**
 * Maximum number of lines per window and kind of event: for one subject (`SUBJECT_LINES_MAX`), and for all subjects
 * together.
 */
const SUBJECT_LINES_MAX = 5;
const KIND_LINES_MAX = 30;
/** Maximum number of subjects with their own count. All further subjects share one count. */
const SUBJECTS_MAX = 1_000;
const TOP = 10;

/** The events of one kind in the current minute. */
type Window = {
  lines: number;
  /** Number of events of each subject: an address, an actor or a session. */
  counts: Map<string, number>;
  /** Number of events of subjects beyond {@link SUBJECTS_MAX}. */
  others: number;
  suppressed: number;
};

/**
 * Limits the number of log lines per minute for each kind of event. It writes the first events of each subject and
 * counts the others. At the end of the minute, it writes one line with the counts for each kind of which some events
 * were not written. The number of subjects with their own count is limited too, which limits the memory.
 */
export function createFloodGuard(write: (kind: SecurityEventKind, fields: object) => void) {
  const windows = new Map<SecurityEventKind, Window>();
  let timer: NodeJS.Timeout | undefined;

  function count(window: Window, subject: string): number {
    const count = window.counts.get(subject);
    if (count === undefined && window.counts.size >= SUBJECTS_MAX) {
      window.others += 1;
      return Number.POSITIVE_INFINITY;
    }
    window.counts.set(subject, (count ?? 0) + 1);
    return (count ?? 0) + 1;
  }

  function endWindows(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [kind, window] of windows) if (window.suppressed > 0) write(kind, summarize(kind, window));
    windows.clear();
  }

  return {
    /** Writes an event, or only counts it if its subject or its kind has reached the limit. */
    write(kind: SecurityEventKind, subject: string, fields: object): void {
      const window = windows.get(kind) ?? { lines: 0, counts: new Map(), others: 0, suppressed: 0 };
      windows.set(kind, window);
      if (timer === undefined) {
        timer = setTimeout(endWindows, WINDOW_MS);
        timer.unref();
      }
      if (count(window, subject) <= SUBJECT_LINES_MAX && window.lines < KIND_LINES_MAX) {
        window.lines += 1;
        write(kind, fields);
      } else window.suppressed += 1;
    },
    close: endWindows,
  };
}

function summarize({ countedBy }: SecurityEventKind, { counts, others, suppressed }: Window) {
  const top = [...counts].sort(([, left], [, right]) => right - left).slice(0, TOP);
  return {
    isSummary: true,
    suppressed,
    windowSeconds: WINDOW_MS / 1_000,
    countedBy,
    subjects: counts.size,
    ...(others > 0 && { eventsOfFurtherSubjects: others }),
    top: top.map(([subject, count]) => ({ subject, count })),
  };
}
