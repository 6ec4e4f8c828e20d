import { createHash } from "node:crypto";
import { type Placeholder, type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { LRUCache } from "lru-cache";
import type { Database, Executor } from "./client.ts";

/** A statement whose text is made once; give it its values, and `execute` the outcome. */
export type Statement<Name extends string> = (values: Record<Name, unknown>) => SQL;

/** Stands for a value in a statement that is being written down. */
export type Value<Name extends string> = (name: Name) => Placeholder<Name>;

const dialect = new PgDialect();

/** Names of the texts of {@link defineStatement}, and of other texts once they have been executed often enough. */
const names = new Map<string, string>();
/** How often each of the most recent other texts was executed. */
const executions = new LRUCache<string, number>({ max: 500 });

/** Executions after which a text gets a name. One that is never repeated would only fill the server's memory. */
const NAMED_AFTER = 3;
/** A connection holds the plan of every name, so texts beyond this number stay without one. */
const NAMES_MAX = 300;

/**
 * The name under which a connection keeps the plan of a text, so that the server parses and plans it once. Texts of
 * {@link defineStatement} have one from the start, others from their third execution.
 */
export function findStatementName(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size >= NAMES_MAX) return name;
  const count = (executions.get(text) ?? 0) + 1;
  executions.set(text, count);
  if (count < NAMED_AFTER) return undefined;
  executions.delete(text);
  return nameText(text);
}

function nameText(text: string): string {
  const name = `statement_${createHash("sha1").update(text).digest("hex").slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/**
 * Writes a statement down for the paths that are walked all the time: Drizzle would put its text together again for
 * every execution, which costs more than the database takes for it. The outcome is to be executed as it is, and not to
 * become part of another statement. Values reach the driver as they are: JSON as text, dates in ISO 8601.
 */
export function defineStatement<Name extends string>(write: (value: Value<Name>) => SQL): Statement<Name> {
  let written: { text: string; names: Name[] } | undefined;
  return (values) => {
    written ??= readText<Name>(write((name) => sql.placeholder(name)));
    const { text, names } = written;
    return Object.assign(sql.raw(text), {
      toQuery: () => ({ sql: text, params: names.map((name) => values[name]) }),
    });
  };
}

function readText<Name extends string>(statement: SQL): { text: string; names: Name[] } {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  nameText(text);
  // Everything that varies is a placeholder: a value in the text would stand there for good.
  const placeholders = params.map((param) => {
    if (typeof param === "object" && param !== null && "name" in param) return param.name as Name;
    throw new Error(`a statement holds a value that is not named: ${String(param)}`);
  });
  return { text, names: placeholders };
}

/**
 * Executes a statement of our own. @returns its rows; `Row` is what the statement selects.
 *
 * Every driver answers with `rows`, which Drizzle's type leaves open: this is the one place that says so.
 */
export async function queryRows<Row>(db: Executor, statement: SQL): Promise<Row[]> {
  return ((await db.execute(statement)) as unknown as { rows: Row[] }).rows;
}

/** Keeps what `prepare` makes of a database: a prepared query belongs to the database it was made with. */
export function prepareOnce<Prepared>(prepare: (db: Database) => Prepared): (db: Database) => Prepared {
  const made = new WeakMap<Database, Prepared>();
  return (db) => {
    const known = made.get(db) ?? prepare(db);
    made.set(db, known);
    return known;
  };
}
