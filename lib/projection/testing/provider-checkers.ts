/**
 * The rules of three providers for response schemas, written from their documents and not from the rules of
 * `profile/profile.ts`, to test the projection. Each function returns the violated rules. Sources: the guides that
 * `profile.ts` names.
 */
export const providerCheckers: Record<string, (schema: unknown) => string[]> = {
  openai: checkOpenai,
  anthropic: checkAnthropic,
  gemini: checkGemini,
};

type Part = Record<string, unknown>;
type Visit = { part: Part; depth: number; path: string };

const partOf = (value: unknown): Part =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Part) : {};
const typesOf = ({ type }: Part): unknown[] =>
  Array.isArray(type) ? type : type === undefined ? [] : [type];
const hasOnly = (part: Part, allowed: string): string[] =>
  Object.keys(part).filter((keyword) => !allowed.split(" ").includes(keyword));

/** Visits each schema of a document once, as it is written. */
function listParts(root: Part): Visit[] {
  const visits: Visit[] = [];
  const walk = (value: unknown, depth: number, path: string): void => {
    const part = partOf(value);
    visits.push({ part, depth, path });
    for (const [name, inner] of Object.entries(partOf(part.properties)))
      walk(inner, depth + 1, `${path}/properties/${name}`);
    for (const [name, inner] of Object.entries(partOf(part.$defs)))
      walk(inner, depth + 1, `${path}/$defs/${name}`);
    for (const keyword of ["anyOf", "allOf", "oneOf", "prefixItems"])
      if (Array.isArray(part[keyword]))
        for (const [index, inner] of (part[keyword] as unknown[]).entries())
          walk(inner, depth + 1, `${path}/${keyword}/${index}`);
    for (const keyword of ["items", "not", "additionalProperties"])
      if (typeof part[keyword] === "object") walk(part[keyword], depth + 1, `${path}/${keyword}`);
  };
  walk(root, 1, "");
  return visits;
}

function findTarget(root: Part, reference: unknown): Part | undefined {
  if (reference === "#") return root;
  const [, name] = /^#\/\$defs\/(.+)$/.exec(String(reference)) ?? [];
  const target = name === undefined ? undefined : partOf(root.$defs)[name];
  return target === undefined ? undefined : partOf(target);
}

/** Follows every reference from the root, and reports a part that contains itself. */
function isEndless(root: Part): boolean {
  const done = new Set<Part>();
  const enter = (part: Part, around: readonly Part[]): boolean => {
    if (around.includes(part)) return true;
    if (done.has(part)) return false;
    const inner = [
      ...Object.values(partOf(part.properties)),
      ...(Array.isArray(part.anyOf) ? part.anyOf : []),
      ...(part.items === undefined ? [] : [part.items]),
    ].map(partOf);
    const target = part.$ref === undefined ? undefined : findTarget(root, part.$ref);
    const isBroken = [...inner, ...(target ? [target] : [])].some((each) => enter(each, [...around, part]));
    done.add(part);
    return isBroken;
  };
  return enter(root, []);
}

const countText = (values: readonly unknown[]) =>
  values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);

/** "Supported schemas" of OpenAI's guide on structured outputs. */
function checkOpenai(value: unknown): string[] {
  const root = partOf(value);
  const found: string[] = [];
  if (root.type !== "object" || "anyOf" in root)
    found.push("the root object must be an object and not anyOf");
  let properties = 0;
  let enumValues = 0;
  let characters = 0;
  for (const { part, depth, path } of listParts(root)) {
    const say = (rule: string) => found.push(`${path}: ${rule}`);
    const strings = "pattern format";
    const numbers = "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum";
    const arrays = "minItems maxItems";
    const supported = `type title description enum const anyOf items properties required additionalProperties $ref $defs ${strings} ${numbers} ${arrays}`;
    for (const keyword of hasOnly(part, supported)) say(`${keyword} is not supported`);
    if (depth > 10 && !path.startsWith("/$defs")) say("up to 10 levels of nesting");
    const names = Object.keys(partOf(part.properties));
    if (typesOf(part).includes("object")) {
      if (part.additionalProperties !== false) say("additionalProperties: false must always be set");
      const required = Array.isArray(part.required) ? part.required : [];
      if (names.some((name) => !required.includes(name))) say("all fields must be required");
    }
    if (typesOf(part).includes("array") && part.items === undefined) say("an array needs items");
    if (part.$ref !== undefined && findTarget(root, part.$ref) === undefined)
      say("the reference leads nowhere");
    properties += names.length;
    const values = Array.isArray(part.enum) ? part.enum : [];
    enumValues += values.length;
    characters +=
      countText(names) +
      countText(Object.keys(partOf(part.$defs))) +
      countText(values) +
      countText([part.const]);
    if (values.length > 250 && countText(values) > 15_000) say("15,000 characters in one large enum");
    const formats = "date-time time date duration email hostname ipv4 ipv6 uuid".split(" ");
    if (part.format !== undefined && !formats.includes(String(part.format)))
      say("the format is not supported");
  }
  if (properties > 5_000) found.push("5,000 object properties");
  if (enumValues > 1_000) found.push("1,000 enum values");
  if (characters > 120_000) found.push("120,000 characters of names and values");
  return found;
}

/** "JSON Schema limitations" of Anthropic's page on structured outputs. */
function checkAnthropic(value: unknown): string[] {
  const root = partOf(value);
  const found: string[] = [];
  if (root.type !== "object") found.push("the root must be an object");
  if (isEndless(root)) found.push("recursive schemas are not supported");
  let optional = 0;
  let unions = 0;
  for (const { part, path } of listParts(root)) {
    const say = (rule: string) => found.push(`${path}: ${rule}`);
    const supported =
      "type title description enum const anyOf allOf items properties required additionalProperties $ref $defs default format minItems pattern";
    for (const keyword of hasOnly(part, supported)) say(`${keyword} is not supported`);
    if (typesOf(part).includes("object") && part.additionalProperties !== false)
      say("additionalProperties must be false");
    if (part.minItems !== undefined && part.minItems !== 0 && part.minItems !== 1)
      say("minItems only 0 or 1");
    const formats = "date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ");
    if (part.format !== undefined && !formats.includes(String(part.format)))
      say("the format is not supported");
    if (Array.isArray(part.enum) && part.enum.some((each) => typeof each === "object" && each !== null))
      say("enum of complex types");
    if (part.$ref !== undefined && findTarget(root, part.$ref) === undefined) say("external $ref");
    const required = Array.isArray(part.required) ? part.required : [];
    optional += Object.keys(partOf(part.properties)).filter((name) => !required.includes(name)).length;
    if (part.anyOf !== undefined || typesOf(part).length > 1) unions += 1;
  }
  if (optional > 24) found.push(`24 optional parameters, not ${optional}`);
  if (unions > 16) found.push(`16 parameters with union types, not ${unions}`);
  return found;
}

/** "JSON Schema support" of Gemini's guide on structured output. What it does not list is ignored, and so must not occur. */
function checkGemini(value: unknown): string[] {
  const root = partOf(value);
  const found: string[] = [];
  if (root.type !== "object" || "anyOf" in root) found.push("the root must be an object");
  if (isEndless(root)) found.push("recursion is unrolled");
  for (const { part, path } of listParts(root)) {
    const say = (rule: string) => found.push(`${path}: ${rule}`);
    const supported =
      "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering";
    for (const keyword of hasOnly(part, supported)) say(`${keyword} is not supported`);
    const siblings = Object.keys(part).filter((keyword) => !keyword.startsWith("$"));
    if (part.$ref !== undefined && siblings.length > 0) say("no siblings of $ref");
    if (part.$ref !== undefined && findTarget(root, part.$ref) === undefined)
      say("the reference leads nowhere");
    if (typesOf(part).includes("string") && part.format !== undefined)
      if (!["date-time", "date", "time"].includes(String(part.format))) say("the format is not supported");
  }
  return found;
}
