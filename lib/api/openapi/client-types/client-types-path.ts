import { join } from "node:path";

/** Where the client's types are kept. */
export const CLIENT_TYPES = join(import.meta.dirname, "../../../client/wire.ts");
