import { protocol, type QueryOptions, type Results, TransactionAbortedError } from "@electric-sql/pglite";
import { createLine, type Line } from "./line.ts";
import type { PglitePort } from "./pglite-port.ts";
import { readAnswer, readDescription, readResult } from "./pglite-results.ts";
import {
  createPgliteStatements,
  type PgliteStatements,
  type PreparedStatement,
} from "./pglite-statements.ts";

type Query = <Row>(text: string, params?: unknown[], options?: PgliteQueryOptions) => Promise<Results<Row>>;

/** What a statement may ask for; files and types of parameters are left to PGlite's own `query`. */
export type PgliteQueryOptions = Pick<QueryOptions, "rowMode" | "parsers" | "serializers" | "onNotice">;

/** As much of PGlite as Drizzle uses. */
export type PgliteClient = {
  query: Query;
  transaction: <Result>(work: (tx: { query: Query }) => Promise<Result>) => Promise<Result>;
  /** Ends the database, after what was asked before. */
  close: () => Promise<void>;
};

/** Where a statement runs: `none` is its own transaction; `asked` becomes `begun` with the first statement. */
type Block = { state: "none" | "asked" | "begun"; hasDefined: boolean; line: Line };

/** PGlite measures and writes a text character by character, which takes most of a second for megabytes; bytes are copied. */
const LONG_TEXT = 65_536;
const encoder = new TextEncoder();
/** Types whose binary form is their text in UTF-8: json, text and varchar. */
const sentAsIs = new Set([114, 25, 1043]);

const { serialize } = protocol;
const { DatabaseError, ReadyForQueryMessage } = protocol.messages;

// None of these changes what another statement's parameters or columns are; nor does a text that starts so.
const harmless = new Set(
  "SELECT INSERT UPDATE DELETE MERGE BEGIN COMMIT ROLLBACK SAVEPOINT RELEASE".split(" "),
);
const harmlessText = /^\s*(select|insert|update|delete|merge|with)\b/i;

/**
 * Talks to a PGlite in few messages. Its own `query` sends six for each statement and has it parsed and planned anew;
 * this one has a text parsed once, and then sends one buffer for each execution, and none of its own for `begin`. A
 * statement is sent when those before it are sent, not when they are answered: the port keeps their order.
 * Results, errors and the order of statements and transactions are those of PGlite's `query` and `transaction`.
 * Source: PostgreSQL manual, Message Flow, Extended Query.
 */
export function createPgliteClient(
  port: PglitePort,
  statements: PgliteStatements = createPgliteStatements(),
): PgliteClient {
  const line = createLine();
  let isClosed = false;
  // A kept plan is for tables of the size they had: it is made anew whenever twice as many rows were written.
  let rowsWritten = 0;
  let rowsToReplan = 256;

  /** What has to be told before a statement: that plans are made anew, that its transaction starts. */
  function takePreface(block: Block): Uint8Array[] {
    const preface: string[] = [];
    if (block.state !== "begun" && rowsWritten >= rowsToReplan) {
      rowsToReplan = 2 * rowsWritten;
      preface.push("DISCARD PLANS");
    }
    if (block.state === "asked") {
      block.state = "begun";
      preface.push("BEGIN");
    }
    return preface.map((text) => serialize.query(text));
  }

  /** Sends what makes up one answer, before it gives way to anything else. */
  async function ask(block: Block, parts: Uint8Array[], options?: PgliteQueryOptions) {
    const preface = takePreface(block);
    const messages = join([...preface, ...statements.takeClosing(), ...parts, serialize.sync()]);
    const answer = readAnswer(await port.exec(messages), options?.onNotice);
    for (const _ of preface)
      answer.splice(0, answer.findIndex((message) => message instanceof ReadyForQueryMessage) + 1);
    return answer;
  }

  async function prepare(block: Block, text: string, options?: PgliteQueryOptions) {
    const name = statements.makeName(text);
    const parts = [serialize.parse({ name, text }), serialize.describe({ type: "S", name })];
    const statement = readDescription(name, await ask(block, parts, options));
    statements.keep(text, statement);
    return statement;
  }

  function bind(statement: PreparedStatement, params: unknown[], options?: PgliteQueryOptions) {
    const values = params.map((param, index) => {
      if (param === null || param === undefined) return null;
      const type = statement.parameterTypes[index] ?? 0;
      const toText = options?.serializers?.[type] ?? port.serializers[type];
      const text = toText ? toText(param) : String(param);
      return typeof text === "string" && text.length > LONG_TEXT && sentAsIs.has(type)
        ? encoder.encode(text)
        : text;
    });
    return serialize.bind({ statement: statement.name, values });
  }

  /** @param leave gives the turn in the line to the next. */
  async function execute<Row>(
    block: Block,
    leave: () => void,
    text: string,
    params: unknown[],
    options?: PgliteQueryOptions,
  ) {
    const statement = statements.find(text) ?? (await prepare(block, text, options));
    const answering = ask(block, [bind(statement, params, options), serialize.execute()], options);
    if (harmlessText.test(text)) leave();
    const result = readResult<Row>(statement, await answering, port.parsers, options);
    rowsWritten += result.affectedRows ?? 0;
    if (result.command !== undefined && !harmless.has(result.command)) block.hasDefined = true;
    // Tables have changed, or are again what they were before a savepoint.
    if (block.hasDefined && result.command !== "SELECT") statements.dropAll();
    return result;
  }

  /** Runs a statement in its turn. */
  async function take<Row>(block: Block, text: string, params: unknown[], options?: PgliteQueryOptions) {
    const leave = await block.line.enter();
    try {
      checkOpen();
      return await execute<Row>(block, leave, text, params, options);
    } finally {
      leave();
    }
  }

  async function run<Row>(block: Block, text: string, params: unknown[] = [], options?: PgliteQueryOptions) {
    try {
      return await take<Row>(block, text, params, options).catch((error) => {
        if (!isStale(error)) throw error;
        statements.drop(text);
        // What failed has done nothing, but it has ended the transaction that it was in.
        if (block.state !== "none") throw error;
        return take<Row>(block, text, params, options);
      });
    } catch (error) {
      throw withQuery(error, text, params, options);
    }
  }

  function checkOpen() {
    if (isClosed) throw new Error("PGlite is closed");
  }

  /** Ends a transaction; one that no statement came to has never begun. @param leave lets in who waits for its end. */
  async function end(block: Block, leave: () => void, text: "COMMIT" | "ROLLBACK") {
    await block.line.enter();
    if (block.state !== "begun") return;
    // Its end may give tables back the columns that they had before it.
    if (block.hasDefined) statements.dropAll();
    try {
      const answering = port.exec(join([serialize.query(text)]));
      leave();
      const { command } = readResult(noStatement, readAnswer(await answering), {});
      if (text === "COMMIT" && command === "ROLLBACK") throw new TransactionAbortedError();
    } catch (error) {
      throw withQuery(error, text);
    }
  }

  return {
    query: (text, params, options) => run({ state: "none", hasDefined: false, line }, text, params, options),
    async transaction(work) {
      const leave = await line.enter();
      try {
        checkOpen();
        const block: Block = { state: "asked", hasDefined: false, line: createLine() };
        let hasEnded = false;
        const query: Query = async (text, params, options) => {
          if (hasEnded) throw new Error("Transaction is closed");
          return run(block, text, params, options);
        };
        try {
          const result = await work({ query });
          hasEnded = true;
          await end(block, leave, "COMMIT");
          return result;
        } catch (error) {
          if (!hasEnded) {
            hasEnded = true;
            await end(block, leave, "ROLLBACK");
          }
          throw error;
        }
      } finally {
        leave();
      }
    },
    async close() {
      const leave = await line.enter();
      isClosed = true;
      leave();
      await port.close();
    },
  };
}

const noStatement: PreparedStatement = { name: "", parameterTypes: [], fields: [] };

/** Puts messages into one buffer that is nobody else's, so that it can be given away. */
function join(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Whether a prepared statement has gone, or no longer gives the columns that it gave. */
function isStale(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return error.code === "26000" || (error.code === "0A000" && error.routine === "RevalidateCachedQuery");
}

/** Adds to an error of the database what PGlite's own `query` adds. */
function withQuery(
  error: unknown,
  query: string,
  params?: unknown[],
  queryOptions?: PgliteQueryOptions,
): unknown {
  return error instanceof DatabaseError ? Object.assign(error, { query, params, queryOptions }) : error;
}
