import type { SQL } from "drizzle-orm";

/** The dependencies that the store's statements have in common. */
export type StoreContext = {
  query: <Row>(statement: SQL) => Promise<Row[]>;
  executorId: string;
  /** The name of this process's database connections. Undefined if only the lease tells whether it is alive. */
  process: string | undefined;
  /** The engine's clock. */
  now: () => number;
};
