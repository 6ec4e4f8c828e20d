/** After so many levels the shortest form is taken, so that recursive schemas come to an end. */
const levelsMax = 6;
const levelsEnd = 40;

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A small value of a schema in the strict form, in which it is easy to find one; undefined when it has no end. */
export function buildExample(schema: Fields): unknown {
  const $defs = isFields(schema.$defs) ? schema.$defs : {};
  const resolve = (part: unknown): Fields => {
    if (!isFields(part) || typeof part.$ref !== "string") return isFields(part) ? part : {};
    const target = part.$ref === "#" ? schema : $defs[part.$ref.replace("#/$defs/", "")];
    return isFields(target) ? target : {};
  };

  function build(part: unknown, level: number): unknown {
    const { anyOf, type, properties, items, ...rest } = resolve(part);
    if (level > levelsEnd) return undefined;
    if (Array.isArray(anyOf)) return build(pickBranch(anyOf, level), level + 1);
    if ("const" in rest) return rest.const;
    if (Array.isArray(rest.enum)) return rest.enum[0];
    const kind = Array.isArray(type) ? type[0] : type;
    if (kind === "array") return level >= levelsMax ? [] : [build(items, level + 1)];
    if (kind !== "object")
      return kind === "string" ? "text" : kind === "boolean" ? true : kind === "null" ? null : 1;
    const entries = Object.entries(isFields(properties) ? properties : {});
    return Object.fromEntries(entries.map(([name, each]) => [name, buildProperty(name, each, level + 1)]));
  }

  /** What has no place of its own is left out, as a model is asked to. */
  const buildProperty = (name: string, part: unknown, level: number) => {
    const { anyOf } = resolve(part);
    const isSpare = /^additional(_\d+)?$/.test(name) && Array.isArray(anyOf);
    return isSpare && anyOf.some((each) => resolve(each).type === "null") ? null : build(part, level);
  };

  const pickBranch = (branches: readonly unknown[], level: number): unknown => {
    if (level < levelsMax) return branches[0];
    const short = ["null", "string", "boolean", "number", "integer", "array"];
    const rank = (branch: unknown) => {
      const at = short.indexOf(String(resolve(branch).type));
      return at === -1 ? short.length : at;
    };
    return [...branches].sort((one, other) => rank(one) - rank(other))[0];
  };

  return build(schema, 0);
}
