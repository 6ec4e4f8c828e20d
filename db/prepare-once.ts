import type { Database } from "./client.ts";

/** Keeps what `prepare` makes of a database: a prepared query belongs to the database it was made with. */
export function prepareOnce<Prepared>(prepare: (db: Database) => Prepared): (db: Database) => Prepared {
  const made = new WeakMap<Database, Prepared>();
  return (db) => {
    const known = made.get(db) ?? prepare(db);
    made.set(db, known);
    return known;
  };
}
