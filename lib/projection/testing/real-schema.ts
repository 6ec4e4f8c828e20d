/**
 * A realistic schema, with values that are valid under it. `undeclared`: the names of the properties of these values that
 * the projection has no place for, sorted.
 */
export type RealSchema = {
  name: string;
  schema: Record<string, unknown>;
  values: readonly unknown[];
  undeclared?: readonly string[];
};
