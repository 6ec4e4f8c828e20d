import { protocol } from "@electric-sql/pglite";

/** A statement that PGlite has parsed: its name there, the types of its parameters, the columns it gives. */
export type PreparedStatement = {
  name: string;
  parameterTypes: number[];
  fields: { name: string; dataTypeID: number }[];
};

/** The prepared statements of one PGlite, by their text. */
export type PgliteStatements = {
  find: (text: string) => PreparedStatement | undefined;
  /** A name for a text that was not found; empty for one that is too long to keep. */
  makeName: (text: string) => string;
  keep: (text: string, statement: PreparedStatement) => void;
  drop: (text: string) => void;
  dropAll: () => void;
  /** The messages that let PGlite forget what was dropped; told once. */
  takeClosing: () => Uint8Array[];
};

/**
 * Remembers which statements PGlite has parsed. A list of values makes a new text for each of its lengths, so the
 * number is bounded: the statement that was not used for longest goes first.
 *
 * @param limit how many statements are kept.
 * @param longest how long the text of one may be, in characters.
 */
export function createPgliteStatements({ limit = 300, longest = 8_192 } = {}): PgliteStatements {
  const kept = new Map<string, PreparedStatement>();
  const dropped: string[] = [];
  let made = 0;
  const drop = (text: string) => {
    const statement = kept.get(text);
    if (!statement) return;
    kept.delete(text);
    dropped.push(statement.name);
  };

  return {
    find(text) {
      const statement = kept.get(text);
      if (!statement) return undefined;
      // A map keeps the order of insertion: the least used one stands first.
      kept.delete(text);
      kept.set(text, statement);
      return statement;
    },
    makeName(text) {
      if (text.length > longest) return "";
      made += 1;
      return `s${made}`;
    },
    keep(text, statement) {
      if (statement.name === "") return;
      kept.set(text, statement);
      const [oldest] = kept.keys();
      if (kept.size > limit && oldest !== undefined) drop(oldest);
    },
    drop,
    dropAll() {
      for (const text of [...kept.keys()]) drop(text);
    },
    takeClosing() {
      return dropped.splice(0).map((name) => protocol.serialize.close({ type: "S", name }));
    },
  };
}
