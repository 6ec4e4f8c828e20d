import { documents } from "./schemas-of-documents.ts";
import { structures } from "./schemas-of-structures.ts";
import { tools } from "./schemas-of-tools.ts";

/** A realistic schema, with values that are valid under it. */
export type RealSchema = { name: string; schema: Record<string, unknown>; values: readonly unknown[] };

export const realSchemas: readonly RealSchema[] = [...documents, ...tools, ...structures];
