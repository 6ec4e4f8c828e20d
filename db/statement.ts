import { createHash } from "node:crypto";
import { type Placeholder, type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { LRUCache } from "lru-cache";
import type { Database, Executor } from "./client.ts";

/** A statement whose text is built once. Call it with the values, and pass the result to `execute`. */
export type Statement<Name extends string> = (values: Record<Name, unknown>) => SQL;

/** Creates the placeholder for a value in the text of a statement. */
type Value<Name extends string> = (name: Name) => Placeholder<Name>;

const dialect = new PgDialect();

/**
 * Prepared-statement names by SQL text. A statement of {@link defineStatement} is named at its first execution, any other
 * statement at execution number {@link NAMED_AFTER}.
 */
const names = new Map<string, string>();
/** Number of executions by text, for the most recently executed texts that have no name. */
const executions = new LRUCache<string, number>({ max: 500 });

/**
 * Number of the execution at which a text gets a name. A plan for a text that is executed only once or twice wastes
 * memory.
 */
const NAMED_AFTER = 3;
/**
 * Longer texts get no name, except those of {@link defineStatement}. A long text usually contains a variable number of
 * values, and then the same text is rarely executed again.
 */
const NAMED_LENGTH_MAX = 8_000;
/** Matches a text of several commands. Such a text gets no name, because Postgres cannot prepare it. */
const SEVERAL_COMMANDS = /;\s*\S/;
/**
 * When there are this many names, only statements of {@link defineStatement} still get a name, because every connection
 * keeps a plan for each name.
 */
const NAMES_MAX = 300;

/**
 * Counts an execution of a text and returns the text's name, if it has one. A connection prepares a named text, so that
 * the server parses and plans it only once. A text of {@link defineStatement} has a name from its first execution, any
 * other text from its third.
 */
export function findStatementName(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size >= NAMES_MAX || text.length > NAMED_LENGTH_MAX) return name;
  const count = (executions.get(text) ?? 0) + 1;
  executions.set(text, count);
  if (count < NAMED_AFTER) return undefined;
  executions.delete(text);
  return SEVERAL_COMMANDS.test(text) ? undefined : nameText(text);
}

function nameText(text: string): string {
  const name = `statement_${createHash("sha1").update(text).digest("hex").slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/**
 * Defines a statement whose text is built only once. Use it on hot paths, where Drizzle takes longer to build a text
 * than the database takes to execute it. The result must be executed directly, and must not become part of another
 * statement. Values are passed to the driver unchanged: the caller passes JSON as text and dates in ISO 8601.
 */
export function defineStatement<Name extends string>(build: (value: Value<Name>) => SQL): Statement<Name> {
  let built: { text: string; names: Name[] } | undefined;
  return (values) => {
    built ??= readText<Name>(build((name) => sql.placeholder(name)));
    const { text, names } = built;
    return Object.assign(sql.raw(text), {
      toQuery: () => ({ sql: text, params: names.map((name) => values[name]) }),
    });
  };
}

function readText<Name extends string>(statement: SQL): { text: string; names: Name[] } {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  nameText(text);
  // Every value must be a placeholder: a literal value would stay the same in all later executions.
  const placeholders = params.map((param) => {
    if (typeof param === "object" && param !== null && "name" in param) return param.name as Name;
    throw new Error(`a statement contains a value without a placeholder: ${String(param)}`);
  });
  return { text, names: placeholders };
}

/**
 * Executes a statement and returns its rows. `Row` is the type of a row that the statement selects.
 *
 * The cast is needed because Drizzle's type of a result does not declare `rows`, which all drivers return.
 */
export async function queryRows<Row>(db: Executor, statement: SQL): Promise<Row[]> {
  return ((await db.execute(statement)) as unknown as { rows: Row[] }).rows;
}

/**
 * Caches the result of `prepare` for each database, because a prepared query belongs to the database that prepared it.
 */
export function prepareOnce<Prepared>(prepare: (db: Database) => Prepared): (db: Database) => Prepared {
  const cache = new WeakMap<Database, Prepared>();
  return (db) => {
    const prepared = cache.get(db) ?? prepare(db);
    cache.set(db, prepared);
    return prepared;
  };
}
