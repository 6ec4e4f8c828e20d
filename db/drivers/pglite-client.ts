import {
  type PGlite,
  protocol,
  type QueryOptions,
  type Results,
  TransactionAbortedError,
} from "@electric-sql/pglite";
import { readDescription, readResult } from "./pglite-results.ts";
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
};

/** Where a statement runs: `none` is its own transaction; `asked` becomes `begun` with the first statement. */
type Block = { state: "none" | "asked" | "begun"; hasDefined: boolean };

const { serialize } = protocol;
const { DatabaseError, ReadyForQueryMessage } = protocol.messages;

// None of these changes what another statement's parameters or columns are.
const harmless = new Set(
  "SELECT INSERT UPDATE DELETE MERGE BEGIN COMMIT ROLLBACK SAVEPOINT RELEASE".split(" "),
);

/**
 * Talks to a PGlite in few messages. Its own `query` sends six for each statement and has it parsed and planned anew;
 * this one has a text parsed once, and then sends one buffer for each execution, and none of its own for `begin`.
 * Results, errors and the order of statements and transactions are those of PGlite's `query` and `transaction`.
 * Source: PostgreSQL manual, Message Flow, Extended Query.
 */
export function createPgliteClient(
  pg: PGlite,
  statements: PgliteStatements = createPgliteStatements(),
): PgliteClient {
  // A kept plan is for tables of the size they had: it is made anew whenever twice as many rows were written.
  let rowsWritten = 0;
  let rowsToReplan = 256;

  function send(parts: Uint8Array[], options?: PgliteQueryOptions) {
    const { onNotice } = options ?? {};
    return pg.execProtocolStream(Buffer.concat(parts), { syncToFs: false, ...(onNotice && { onNotice }) });
  }

  /** Sends what makes up one answer, after what had to be told before it: the start of the block, what was dropped. */
  async function ask(block: Block, parts: Uint8Array[], options?: PgliteQueryOptions) {
    const begin = block.state === "asked" ? [serialize.query("BEGIN")] : [];
    if (block.state === "asked") block.state = "begun";
    const answer = await send([...begin, ...statements.takeClosing(), ...parts, serialize.sync()], options);
    if (begin.length === 0) return answer;
    return answer.slice(answer.findIndex((message) => message instanceof ReadyForQueryMessage) + 1);
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
      const toText = options?.serializers?.[type] ?? pg.serializers[type];
      return toText ? toText(param) : String(param);
    });
    return serialize.bind({ statement: statement.name, values });
  }

  async function execute<Row>(block: Block, text: string, params: unknown[], options?: PgliteQueryOptions) {
    const statement = statements.find(text) ?? (await prepare(block, text, options));
    const answer = await ask(block, [bind(statement, params, options), serialize.execute()], options);
    const result = readResult<Row>(statement, answer, pg.parsers, options);
    rowsWritten += result.affectedRows ?? 0;
    if (result.command !== undefined && !harmless.has(result.command)) block.hasDefined = true;
    // Tables have changed, or are again what they were before a savepoint.
    if (block.hasDefined && result.command !== "SELECT") statements.dropAll();
    return result;
  }

  async function run<Row>(block: Block, text: string, params: unknown[] = [], options?: PgliteQueryOptions) {
    try {
      return await execute<Row>(block, text, params, options).catch((error) => {
        if (!isStale(error)) throw error;
        statements.drop(text);
        // What failed has done nothing, but it has ended the transaction that it was in.
        if (block.state !== "none") throw error;
        return execute<Row>(block, text, params, options);
      });
    } catch (error) {
      throw withQuery(error, text, params, options);
    }
  }

  /** Runs a command that has neither parameters nor rows. @returns the command that was carried out. */
  async function command(text: string): Promise<string | undefined> {
    try {
      return readResult({ name: "", parameterTypes: [], fields: [] }, await send([serialize.query(text)]), {})
        .command;
    } catch (error) {
      throw withQuery(error, text);
    }
  }

  async function makePlansAnew() {
    if (rowsWritten < rowsToReplan) return;
    rowsToReplan = 2 * rowsWritten;
    await command("DISCARD PLANS");
  }

  /** @throws Error when PGlite is closed, or is being closed. */
  async function checkReady() {
    if (!pg.ready) await pg._checkReady();
  }

  /** Ends a transaction; one that no statement came to has never begun. */
  function end(block: Block, text: "COMMIT" | "ROLLBACK") {
    return pg._runExclusiveQuery(async () => {
      if (block.state !== "begun") return;
      // Its end may give tables back the columns that they had before it.
      if (block.hasDefined) statements.dropAll();
      const done = await command(text);
      if (text === "COMMIT" && done === "ROLLBACK") throw withQuery(new TransactionAbortedError(), text);
      await pg.syncToFs();
    });
  }

  /** Keeps everything else out of the database, as PGlite's own statements and transactions do. */
  async function runAlone<Result>(work: () => Promise<Result>): Promise<Result> {
    await checkReady();
    return pg._runExclusiveTransaction(async () => {
      await checkReady();
      return work();
    });
  }

  return {
    query: (text, params, options) =>
      runAlone(() =>
        pg._runExclusiveQuery(async () => {
          await makePlansAnew();
          const result = await run<never>({ state: "none", hasDefined: false }, text, params, options);
          await pg.syncToFs();
          return result;
        }),
      ),
    transaction: (work) =>
      runAlone(async () => {
        await pg._runExclusiveQuery(makePlansAnew);
        const block: Block = { state: "asked", hasDefined: false };
        let isClosed = false;
        const query: Query = async (text, params, options) => {
          if (isClosed) throw new Error("Transaction is closed");
          return pg._runExclusiveQuery(() => run(block, text, params, options));
        };
        try {
          const result = await work({ query });
          isClosed = true;
          await end(block, "COMMIT");
          return result;
        } catch (error) {
          if (!isClosed) {
            isClosed = true;
            await end(block, "ROLLBACK");
          }
          throw error;
        }
      }),
  };
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
