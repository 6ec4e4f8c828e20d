/** A user and a group of the operating system, by number. */
export type Account = { uid: number; gid: number };

/**
 * The account that runs the server. No other process uses its ids, so neither the browser (`nobody`) nor the sandbox
 * (65533) can read the database.
 */
const DATABASE: Account = { uid: 65_532, gid: 65_532 };

/**
 * The account that creates the template, an initialised data folder that is copied for each new database. `initdb`
 * requires a user with a name, which {@link DATABASE} does not have. The browser runs under the same account, but the
 * template contains no data that the browser must not read.
 */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

const isRoot = () => process.getuid?.() === 0;

/**
 * Returns the account that runs the database; undefined if this process's own user runs it. Root cannot run Postgres.
 */
export const databaseAccount = (): Account | undefined => (isRoot() ? DATABASE : undefined);

/**
 * Returns the account that creates the template; undefined if this process's own user creates it. Root cannot run
 * `initdb`.
 */
export const templateAccount = (): Account | undefined => (isRoot() ? NOBODY : undefined);
