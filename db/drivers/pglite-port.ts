import { type PGlite, types } from "@electric-sql/pglite";

type Parse = (text: string, type?: number) => unknown;
type Serialize = (value: unknown) => string;

/** How values of each type of the database are read from its text and written as it, by the type's number. */
export type PgliteTypes = { parsers: Record<number, Parse>; serializers: Record<number, Serialize> };

/** A type, and the type of its arrays. */
export type ArrayType = { oid: number; typarray: number };

/** A PGlite, wherever it runs: bytes of PostgreSQL's frontend protocol in, bytes of its backend protocol out. */
export type PglitePort = PgliteTypes & {
  /**
   * Has messages carried out, and their buffer used up. What is asked first is carried out and answered first.
   *
   * @returns the answer, kept as well as the database keeps anything: the process may be killed from here on.
   * @throws Error when the database is gone.
   */
  exec: (messages: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>;
  /** Ends the database in order, after what was asked before. */
  close: () => Promise<void>;
};

/** Has a PGlite of this thread answer to it. Nobody else is to ask that PGlite for anything meanwhile. */
export function createLocalPort(pg: PGlite): PglitePort {
  const exec = createExec(pg);
  return {
    parsers: pg.parsers,
    serializers: pg.serializers,
    exec: async (messages) => {
      if (!pg.ready) await pg._checkReady();
      return exec(messages);
    },
    close: () => pg.close(),
  };
}

/** Lets PGlite carry out messages at once. */
export function createExec(pg: PGlite): PglitePort["exec"] {
  let answer = new Uint8Array(answerBytesKept);
  return async (messages) => {
    let length = 0;
    // Postgres gives parts of some kilobytes, in memory that it uses again. Without this PGlite would read each message.
    const onRawData = (part: Uint8Array) => {
      if (length + part.length > answer.length) {
        const longer = new Uint8Array(2 * (length + part.length));
        longer.set(answer.subarray(0, length));
        answer = longer;
      }
      answer.set(part, length);
      length += part.length;
    };
    // Neither files nor memory have anything to be synchronised with, as browsers' storage has.
    await pg.execProtocolRawStream(messages, { syncToFs: false, onRawData });
    // A thread that makes few objects seldom collects them: what they hold is given back here.
    messages.buffer.transfer(0);
    const own = answer.slice(0, length).buffer;
    if (answer.length > answerBytesKept) answer = new Uint8Array(answerBytesKept);
    return own;
  };
}

const answerBytesKept = 65_536;

/** The types as PGlite itself reads and writes them, for a thread that has no PGlite. */
export function makeTypes(arrays: ArrayType[]): PgliteTypes {
  const parsers: PgliteTypes["parsers"] = { ...types.parsers };
  const serializers: PgliteTypes["serializers"] = { ...types.serializers };
  const asItIs: Parse = (text) => text;
  for (const { oid, typarray } of arrays) {
    const [parse, serialize] = [parsers[oid] ?? asItIs, serializers[oid]];
    parsers[typarray] = (text) => types.arrayParser(text, parse, typarray);
    serializers[typarray] = (values) => types.arraySerializer(values, serialize, typarray);
  }
  return { parsers, serializers };
}
