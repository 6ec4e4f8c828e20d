/** What one session page keeps in the browser: unsent texts, and which runs the person stopped. */
type Kept = {
  /** When it was last changed, in milliseconds since 1970. */
  at: number;
  message?: string;
  /** The values of open questions, by the id of the question: a text, or the values of a form. */
  answers?: Record<string, unknown>;
  ownStops?: string[];
};

/** Keeps drafts across reloads, in the browser's own storage. A draft that does not fit is not kept. */
export type DraftStore = {
  readMessage: () => string;
  /** Keeps the text of the message box. An empty text removes it. */
  writeMessage: (text: string) => void;
  /** Returns the values of a question as they were written; undefined if there are none. */
  readAnswer: (elicitationId: string) => unknown;
  /** Keeps the values of an open question; undefined removes them. */
  writeAnswer: (elicitationId: string, values: unknown) => void;
  readOwnStops: () => string[];
  addOwnStop: (runId: string) => void;
};

const PREFIX = "agent-session-draft:";
/** Sessions whose drafts are kept. The one that was changed longest ago is removed first. */
const SESSIONS_MAX = 20;
/** Characters of one session's JSON. */
const CHARACTERS_MAX = 200_000;
const ANSWERS_MAX = 10;
const STOPS_MAX = 20;

/**
 * Creates the store of one session. `storage` is the browser's; undefined where there is none, such as on the server or
 * where the browser refuses it. Then nothing is kept.
 */
export function createDraftStore(
  sessionId: string,
  storage: Storage | undefined,
  now: () => number = Date.now,
): DraftStore {
  const key = `${PREFIX}${sessionId}`;
  const read = (): Kept => readKept(storage, key) ?? { at: 0 };
  function change(edit: (kept: Kept) => Kept): void {
    if (!storage) return;
    const { at: _, ...next } = edit(read());
    const isEmpty = !next.message && Object.keys(next.answers ?? {}).length === 0 && !next.ownStops?.length;
    const text = JSON.stringify({ ...next, at: now() });
    try {
      if (isEmpty || text.length > CHARACTERS_MAX) storage.removeItem(key);
      else storage.setItem(key, text);
      removeOldest(storage);
    } catch {
      // The storage is full or refused. The page works without drafts.
    }
  }
  return {
    readMessage: () => read().message ?? "",
    writeMessage: (message) => change((kept) => ({ ...kept, message })),
    readAnswer: (elicitationId) => read().answers?.[elicitationId],
    writeAnswer: (elicitationId, values) =>
      change(({ answers = {}, ...kept }) => {
        const { [elicitationId]: _, ...others } = answers;
        const added = values === undefined ? {} : { [elicitationId]: values };
        const all = Object.entries({ ...others, ...added }).slice(-ANSWERS_MAX);
        return { ...kept, answers: Object.fromEntries(all) };
      }),
    readOwnStops: () => read().ownStops ?? [],
    addOwnStop: (runId) =>
      change((kept) => ({ ...kept, ownStops: [...(kept.ownStops ?? []), runId].slice(-STOPS_MAX) })),
  };
}

function readKept(storage: Storage | undefined, key: string): Kept | undefined {
  try {
    const value: unknown = JSON.parse(storage?.getItem(key) ?? "null");
    return isKept(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Another version of the page, or a person, may have written something else. */
function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { at, message, answers, ownStops } = Object.fromEntries(Object.entries(value));
  return (
    typeof at === "number" &&
    (message === undefined || typeof message === "string") &&
    (answers === undefined || (typeof answers === "object" && answers !== null)) &&
    (ownStops === undefined ||
      (Array.isArray(ownStops) && ownStops.every((each) => typeof each === "string")))
  );
}

function removeOldest(storage: Storage): void {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  const own = keys
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => ({ key, at: readKept(storage, key)?.at ?? 0 }))
    .sort((one, other) => other.at - one.at);
  for (const { key } of own.slice(SESSIONS_MAX)) storage.removeItem(key);
}
