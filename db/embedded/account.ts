/** A user and a group of the operating system, by number. */
export type Account = { uid: number; gid: number };

/** Nothing else on the machine has this id: neither `nobody` (the browser's) nor 65533 (the sandbox's) can read the database. */
const DATABASE: Account = { uid: 65_532, gid: 65_532 };

/** `initdb` wants a user with a name; it writes nothing but the template, which holds no data. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

const isRoot = () => process.getuid?.() === 0;

/** Who runs the database: this process's own user, except for root, as whom Postgres refuses to run. */
export const databaseAccount = (): Account | undefined => (isRoot() ? DATABASE : undefined);

/** Who makes the template. */
export const templateAccount = (): Account | undefined => (isRoot() ? NOBODY : undefined);
