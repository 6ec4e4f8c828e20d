import { fileURLToPath } from "node:url";

/** The folder of the generated migrations. All drivers use the same migrations. */
export const migrationsFolder = fileURLToPath(new URL("../migrations", import.meta.url));
