import type { RealSchema } from "./real-schema.ts";
import { documents } from "./schemas-of-documents.ts";
import { structures } from "./schemas-of-structures.ts";
import { tools } from "./schemas-of-tools.ts";

export const realSchemas: readonly RealSchema[] = [...documents, ...tools, ...structures];
