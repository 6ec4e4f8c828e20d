import type { ErrorObject, Options, ValidateFunction } from "ajv";
import type AjvCore from "ajv/dist/core.js";
import {
  collectPlaces,
  formatPointer,
  type SchemaLocation,
  type SchemaObject,
} from "#lib/projection/schema/walk-schema.ts";
import { compileCallerPattern } from "#lib/text/caller-pattern.ts";
import { findReferenceFlaw } from "./check-references.ts";
import { configureAjv } from "./configure-ajv.ts";
import { describeError } from "./describe-violation.ts";
import { DRAFT_NAMES, type Draft, findDraft } from "./find-draft.ts";
import { normalizeReferences } from "./normalize-references.ts";
import { trackEvaluated } from "./track-evaluated.ts";

export type CompiledSchema = { ok: true; validate: ValidateFunction } | { ok: false; error: string };

/**
 * The common options of all ajv instances. The validators of callers' schemas collect all errors: code that stops at
 * the first error has one level of nesting for each check, which is too deep for schemas with many properties.
 */
const common: Options = { strict: false, logger: false, allErrors: true };

/**
 * Compiles a caller's schema with the rules of its draft. Unknown keywords and formats are annotations; references must
 * stay within the document. Compiling a hostile schema can be slow, so only the worker thread calls this function.
 * Source: specification, Structured sessions, Schema rules, 2; `facts.md`, Caller schemas.
 *
 * @param schema is modified: keywords that ajv enforces although the draft ignores them are removed, and `allOf` may
 * get additional branches.
 * @returns the validator, or the flaw as `<JSON pointer> <sentence>`. For a flaw of the whole schema, the pointer is
 * omitted.
 */
export function compileSchema(schema: SchemaObject): CompiledSchema {
  const draft = findDraft(schema.$schema);
  if (draft === undefined) return refuse("/$schema", `must name ${DRAFT_NAMES}`);
  try {
    const places = collectPlaces(schema);
    const flaw = findFlaw(draft, schema, places);
    if (flaw !== undefined) return flaw;
    removeEnforced(draft, places);
    replaceEmptyNames(draft, places);
    normalizeReferences(draft, schema, places);
    return compileChecked(draft, schema, places);
  } catch (error) {
    if (error instanceof RangeError) return refuse("", "is nested too deeply");
    throw error;
  }
}

const refuse = (pointer: string, sentence: string): { ok: false; error: string } => ({
  ok: false,
  error: pointer === "" ? sentence : `${pointer} ${sentence}`,
});

/** Removes keywords that ajv enforces although the draft ignores them. */
function removeEnforced(draft: Draft, places: ReadonlyMap<SchemaObject, SchemaLocation>): void {
  for (const { schema } of places.values()) {
    // `nullable` is a keyword of OpenAPI, not of JSON Schema.
    delete schema.nullable;
    // In drafts that ignore the siblings of `$ref`, ajv still enforces the sibling `type`.
    if (draft.ignoresRefSiblings && typeof schema.$ref === "string") delete schema.type;
  }
}

/**
 * Adds an equivalent `allOf` branch for each dependency that requires a property whose name is the empty string. Inside
 * `not`, `if` and `anyOf`, ajv wrongly treats that property as present when it checks the dependency itself.
 */
function replaceEmptyNames(draft: Draft, places: ReadonlyMap<SchemaObject, SchemaLocation>): void {
  for (const { schema } of places.values())
    for (const keyword of ["dependencies", "dependentRequired"]) {
      const dependencies: unknown = schema[keyword];
      if (draft.ignoredKeywords.has(keyword) || typeof dependencies !== "object") continue;
      const names = Object.entries(dependencies ?? {}).filter(
        ([, required]) => Array.isArray(required) && required.includes(""),
      );
      for (const [name] of names)
        schema.allOf = [
          ...(Array.isArray(schema.allOf) ? schema.allOf : []),
          { anyOf: [{ not: { required: [name] } }, { required: [""] }] },
        ];
    }
}

/** Checks a schema without compiling it. @returns the first flaw. */
function findFlaw(draft: Draft, schema: SchemaObject, places: ReadonlyMap<SchemaObject, SchemaLocation>) {
  for (const place of places.values()) {
    if (Object.hasOwn(place.schema, "$async")) return refuse(`${place.pointer}/$async`, "is not allowed");
  }
  const error = findMetaError(draft, schema);
  if (error !== undefined) return refuse(error.instancePath, describeError(error));
  for (const place of places.values()) {
    const pattern = findBrokenPattern(place.schema);
    if (pattern !== undefined) return refuse(place.pointer + pattern, "must be a regular expression");
  }
  const flaw = findReferenceFlaw(schema, places, draft);
  return flaw && refuse(flaw.pointer, flaw.sentence);
}

const metaCheckers = new Map<Draft, AjvCore>();

/**
 * Validates the schema against its meta-schema.
 * @returns the deepest error, because the other errors follow from it.
 */
function findMetaError(draft: Draft, schema: SchemaObject): ErrorObject | undefined {
  let ajv = metaCheckers.get(draft);
  if (ajv === undefined) {
    ajv = draft.createAjv({ ...common, allErrors: false, validateFormats: false });
    metaCheckers.set(draft, ajv);
  }
  if (ajv.validate(draft.metaSchemaId, schema) === true) return undefined;
  const depth = (error: ErrorObject) => error.instancePath.split("/").length;
  return ajv.errors?.reduce((deepest, error) => (depth(error) > depth(deepest) ? error : deepest));
}

function findBrokenPattern({ pattern, patternProperties }: SchemaObject): string | undefined {
  if (typeof pattern === "string" && !compileCallerPattern(pattern)) return "/pattern";
  const names = typeof patternProperties === "object" ? Object.keys(patternProperties ?? {}) : [];
  const broken = names.find((name) => !compileCallerPattern(name));
  return broken === undefined ? undefined : formatPointer(["patternProperties", broken]);
}

function compileChecked(
  draft: Draft,
  schema: SchemaObject,
  places: Map<SchemaObject, SchemaLocation>,
): CompiledSchema {
  try {
    const validate = compileWith(draft, schema, places);
    validate({});
    return { ok: true, validate };
  } catch (error) {
    return describeFailure(error, places);
  }
}

/**
 * Compiles each pattern by itself, so that one that is not valid in Unicode mode does not change what the others mean.
 * Only ajv's standalone code uses `code`.
 */
const regExp = Object.assign(
  (pattern: string): RegExp => {
    const compiled = compileCallerPattern(pattern);
    if (!compiled) throw new Error(`${pattern} is not a regular expression`);
    return compiled;
  },
  { code: "compileCallerPattern" },
);

function compileWith(
  draft: Draft,
  schema: SchemaObject,
  places: ReadonlyMap<SchemaObject, SchemaLocation>,
): ValidateFunction {
  const instance = draft.createAjv({
    ...common,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    ignoreKeywordsWithRef: draft.ignoresRefSiblings,
    // Inlining and optimizing are off, because their time grows faster than the size of the schema.
    inlineRefs: false,
    // Makes ajv check required properties in a loop. Otherwise ajv ignores the property "" inside `not`, `if` and
    // `anyOf`.
    loopRequired: 1,
    code: { optimize: false, regExp },
  });
  return trackEvaluated(configureAjv(instance, draft), draft, places).compile(schema);
}

function describeFailure(error: unknown, places: ReadonlyMap<SchemaObject, SchemaLocation>) {
  if (error instanceof RangeError) return refuse("", "is nested too deeply, or refers to itself without end");
  const message = error instanceof Error ? error.message : String(error);
  for (const { pointer, schema } of places.values())
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const reference = schema[keyword];
      if (typeof reference !== "string" || !message.startsWith(`can't resolve reference ${reference} from`))
        continue;
      const sentence = reference.startsWith("#")
        ? "points to nothing in this schema"
        : "must point into this schema";
      return refuse(`${pointer}/${keyword}`, `${sentence} (${reference.slice(0, 200)})`);
    }
  const twice = /^reference "(.+)" resolves to more than one schema$/.exec(message)?.[1];
  const all = [...places.values()];
  const double =
    twice && all.findLast(({ schema }) => typeof schema.$id === "string" && twice.endsWith(schema.$id));
  if (double) return refuse(`${double.pointer}/$id`, "is the id of another schema, too");
  const far = all.find(
    ({ schema: { $dynamicRef } }) => typeof $dynamicRef === "string" && $dynamicRef[0] !== "#",
  );
  if (far && message.includes("$dynamicRef"))
    return refuse(
      `${far.pointer}/$dynamicRef`,
      "must begin with # (dynamic references to other resources are not supported)",
    );
  return refuse("", `does not compile: ${message.slice(0, 300)}`);
}
