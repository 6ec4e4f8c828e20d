import { fileURLToPath } from "node:url";

/** The folder of generated migrations; one set serves all drivers. */
export const migrationsFolder = fileURLToPath(new URL("../migrations", import.meta.url));
