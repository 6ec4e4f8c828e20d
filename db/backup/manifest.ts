import { z } from "zod";

/** Version of the backup format. Increment it for a change that older versions of the service cannot read. */
export const BACKUP_FORMAT = 1;

/**
 * The manifest of a backup. The rows are in files next to it: one `<table>.copy` per table, in Postgres's text format.
 */
export const manifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  createdAt: z.string(),
  /** Creation times of the applied migrations, in milliseconds. Drizzle identifies a migration by its creation time. */
  migrations: z.array(z.number()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number() })),
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string() })),
});

export type Manifest = z.infer<typeof manifestSchema>;

export const MANIFEST_NAME = "manifest.json";
export const copyName = (table: string): string => `${table}.copy`;
