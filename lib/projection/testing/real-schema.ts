/** A realistic schema, with values that are valid under it. */
export type RealSchema = { name: string; schema: Record<string, unknown>; values: readonly unknown[] };
