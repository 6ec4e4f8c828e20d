import type { Client } from "pg";
import { findStatementName } from "../statement.ts";

/**
 * Lets the server keep the plans of our written-down statements, connection by connection: it plans some of them longer
 * than it takes to carry them out. Drizzle has no way to name a statement that is executed raw.
 */
export function nameStatements(client: Pick<Client, "query">): void {
  const query = client.query.bind(client);
  const named = (config: unknown, ...rest: unknown[]) => {
    if (
      typeof config === "object" &&
      config !== null &&
      "text" in config &&
      !("name" in config && config.name)
    ) {
      const name = findStatementName(String(config.text));
      // Drizzle makes a configuration for each execution.
      if (name !== undefined) Object.assign(config, { name });
    }
    return Reflect.apply(query, client, [config, ...rest]);
  };
  Object.assign(client, { query: named });
}
