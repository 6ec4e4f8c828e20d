import { join } from "node:path";

/** Path of the module with the client's generated types. */
export const CLIENT_TYPES = join(import.meta.dirname, "../../../client/wire.ts");
