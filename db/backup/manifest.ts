import { z } from "zod";

/** The first version of the format. A change that older services cannot read raises it. */
export const BACKUP_FORMAT = 1;

/** What a backup of the database holds; its rows lie beside it, one `<table>.copy` (Postgres's text format) per table. */
export const manifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  createdAt: z.string(),
  /** Creation times of the applied migrations, in milliseconds: Drizzle's own way of naming them. */
  migrations: z.array(z.number()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number() })),
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string() })),
});

export type Manifest = z.infer<typeof manifestSchema>;

export const MANIFEST_NAME = "manifest.json";
export const copyName = (table: string): string => `${table}.copy`;
