import { beginningOf } from "#lib/text/whole-characters.ts";
import { isObject, type JsonSchema, ownValue, setOwn } from "../json.ts";
import { addWords, anyOf } from "./add-words.ts";
import { chooseNames } from "./choose-names.ts";
import {
  type Codec,
  closedObject,
  type Decoding,
  type Emit,
  type Encoding,
  isNever,
  type Node,
  once,
  refused,
  type Slot,
  type Step,
} from "./codec.ts";
import type { Entry } from "./list-codec.ts";
import { createOptionalForm, type OptionalForm } from "./optional-form.ts";

/** A property that the caller's schema names. */
type Field = {
  name: string;
  slot: Slot;
  isRequired: boolean;
  /**
   * Whether the schema of `slot` applies only to some objects. If so, a value that this schema does not accept is sent
   * in a list of additional properties.
   */
  isSoft: boolean;
  /** Whether the optional property is left out when it is absent, instead of being null. */
  isOmitted?: boolean;
};

/**
 * A list of additional properties, which the caller's schema does not name. `node` is the node of the list, `value` is
 * the node of an entry's value. `isImplied`: the schema allows these properties only by not mentioning them, so the
 * projected object has no place for them if it has other properties (decision 111).
 */
export type Section = {
  node: Node;
  value: Node;
  isImplied: boolean;
  /** The names of the declared properties that are sent in this list. Undefined: any others. */
  names?: ReadonlySet<string>;
};

type ProjectedField = Field & { key: string; optional: OptionalForm | undefined };
type ProjectedSection = Section & { key: string };

/** The layout of the object that the provider gets. */
type ObjectForm = {
  /** All property names of the projected object: first those of the fields, then those of the sections. */
  keys: string[];
  keySet: ReadonlySet<string>;
  fields: ProjectedField[];
  fieldsByName: ReadonlyMap<string, ProjectedField>;
  sections: ProjectedSection[];
  /** Whether the form has no place for properties that the caller's schema allows by not mentioning them. */
  isClosed: boolean;
  /** The declared properties that are sent in a list. */
  listed: ReadonlySet<string>;
};

/**
 * Creates the codec for an object. The provider gets an object with the properties of `declared`, and with a list of
 * entries for each section of `open`.
 */
export function createObjectCodec(declared: readonly Field[], open: readonly Section[]): Codec {
  // The form depends on other codecs, so it is computed at its first use, when the graph of all nodes is complete.
  const form = once(() => projectForm(declared, open));
  return {
    children: () => listChildren(form()),
    declared: () => declared.map(({ name, slot, isRequired }) => ({ name, node: slot.node, isRequired })),
    hasValue: (has) => declared.every(({ slot, isRequired }) => !isRequired || has(slot.node)),
    outputs() {
      const { keys } = form();
      return { kinds: new Set(["object"]), heads: [{ first: keys[0] ?? "", keys }] };
    },
    label: () => findLabel(declared),
    schema: (emit) => emitObject(form(), emit),
    ownSchema: (emit) => emitOwnObject(form(), open, emit),
    encode: (value, run) => encodeObject(form(), value, run),
    decode: (projected, run) => decodeObject(form(), projected, run),
    step: (projected, key) => stepInto(form(), projected, key),
  };
}

/** Chooses the property names, and drops optional fields and sections that cannot have a value. */
function projectForm(declared: readonly Field[], open: readonly Section[]): ObjectForm {
  const live = declared.filter(({ slot, isRequired }) => isRequired || !isNever(slot.node));
  const listed = new Set(open.flatMap(({ names }) => [...(names ?? [])]));
  const isClosed = live.length + listed.size > 0 && open.some(({ isImplied }) => isImplied);
  const sections = open.filter(({ value, names }) => names !== undefined || !(isClosed || isNever(value)));
  const sectionNames = sections.map(({ names }, index) => {
    if (names !== undefined) return "more";
    if (live.length === 0 && index === 0) return "entries";
    return index === sections.length - 1 && live.length > 0 ? "additional" : "entries";
  });
  const keys = chooseNames([...live.map(({ name }) => name), ...sectionNames]);
  const keyAt = (index: number) => keys[index] ?? "";
  const fields: ProjectedField[] = live.map((field, index) => ({
    ...field,
    key: keyAt(index),
    optional: field.isRequired ? undefined : createOptionalForm(field.slot, field.isOmitted),
  }));
  return {
    keys,
    keySet: new Set(keys),
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    sections: sections.map((section, index) => ({ ...section, key: keyAt(live.length + index) })),
    isClosed,
    listed,
  };
}

function listChildren({ fields, sections }: ObjectForm): Node[] {
  const places = fields.flatMap(({ slot, optional }) => [slot.node, ...(optional?.nodes() ?? [])]);
  return [...places, ...sections.map(({ node }) => node)];
}

/** Finds the value of a required constant that identifies the object, such as its `type` or `kind`. */
function findLabel(declared: readonly Field[]): string | undefined {
  for (const { slot, isRequired } of declared) {
    if (!isRequired) continue;
    const { codec } = slot.node;
    const choices = "choices" in codec && Array.isArray(codec.choices) ? codec.choices : [];
    if (choices.length === 1 && typeof choices[0] === "string") return choices[0];
  }
  return undefined;
}

function emitObject({ fields, sections }: ObjectForm, emit: Emit): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const { key, name, slot, optional } of fields) {
    const schema = optional ? optional.schema(emit) : emit(slot, 1);
    properties[key] = key === name ? schema : addWords(schema, "", `The property ${JSON.stringify(name)}.`);
  }
  for (const { key, node } of sections) properties[key] = emit({ node, note: "" }, 1);
  const omitted = new Set(fields.filter(({ isOmitted }) => isOmitted).map(({ key }) => key));
  return closedObject(properties, omitted);
}

function emitOwnObject({ fields }: ObjectForm, open: readonly Section[], emit: Emit): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const { name, slot } of fields) setOwn(properties, name, emit(slot, 1));
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...openTo(
      open.map(({ value }) => value),
      emit,
    ),
  };
}

/**
 * Returns the `additionalProperties` of an object whose further properties have one of these nodes. If they may be
 * anything, the keyword is not needed.
 */
export function openTo(values: readonly Node[], emit: Emit): JsonSchema {
  const schemas = values.filter((node) => !isNever(node)).map((node) => emit({ node, note: "" }, 2));
  if (schemas.length === 0) return { additionalProperties: false };
  const union = anyOf(schemas);
  return Object.keys(union).length === 0 ? {} : { additionalProperties: union };
}

function encodeObject(form: ObjectForm, value: unknown, run: Encoding): unknown {
  if (!isObject(value)) return refused;
  const { fields, fieldsByName, sections, isClosed, listed } = form;
  for (const { name, isRequired } of fields) if (isRequired && !Object.hasOwn(value, name)) return refused;
  const undeclared = Object.keys(value).filter((name) => !fieldsByName.has(name));
  const lost = isClosed ? undeclared.filter((name) => !listed.has(name)) : [];
  if (lost.length > 0) {
    run.reportUndeclared(value, lost);
    return refused;
  }
  const projected: Record<string, unknown> = {};
  const entries: Entry[] = [];
  for (const { name, key, slot, optional, isSoft, isOmitted } of fields) {
    if (!isOmitted) projected[key] = optional?.absent();
    if (!Object.hasOwn(value, name)) continue;
    const encoded = run.encode(slot.node, value[name]);
    if (encoded !== refused) projected[key] = encoded;
    else if (isSoft) entries.push({ key: name, value: value[name] });
    else return refused;
  }
  for (const key of undeclared) entries.push({ key, value: value[key] });
  const lists = sortEntries(entries, sections, run);
  if (lists === refused) return refused;
  for (const [index, { key, node }] of sections.entries())
    projected[key] = node.codec.encode(lists[index] ?? [], run);
  return projected;
}

/**
 * Decodes an object. Named properties win over entries, and the last of several entries with the same key wins.
 * Optional properties and lists of entries may be missing, because a provider that does not enforce the format may omit
 * them.
 */
function decodeObject(form: ObjectForm, projected: unknown, run: Decoding): unknown {
  if (!isObject(projected)) return run.refuse("must be object");
  const { keySet, fields, sections } = form;
  const missing = fields.find(({ key, optional }) => !optional && !Object.hasOwn(projected, key));
  if (missing !== undefined) return run.refuse(`must have the property "${missing.key}"`);
  const unknown = Object.keys(projected).find((key) => !keySet.has(key));
  if (unknown !== undefined) return run.refuse(`must not have the property "${beginningOf(unknown, 100)}"`);
  const value: Record<string, unknown> = {};
  for (const { name, key, slot, optional } of fields) {
    if (optional && (!Object.hasOwn(projected, key) || optional.isAbsent(projected[key]))) continue;
    const decoded = run.decode(slot.node, projected[key], key);
    if (decoded === refused) return refused;
    setOwn(value, name, decoded);
  }
  const named = new Set(Object.keys(value));
  for (const { key, node } of sections) {
    if (!Object.hasOwn(projected, key)) continue;
    const entries = run.decode(node, projected[key], key);
    if (entries === refused) return refused;
    // The cast is safe: the node of a section decodes to entries.
    for (const entry of entries as Entry[]) if (!named.has(entry.key)) setOwn(value, entry.key, entry.value);
  }
  return value;
}

function stepInto(form: ObjectForm, projected: unknown, key: string): Step | undefined {
  if (!isObject(projected)) return undefined;
  const field = form.fieldsByName.get(key);
  if (field && field.optional?.isAbsent(ownValue(projected, field.key)) !== true)
    return { path: [field.key], node: field.slot.node, projected: ownValue(projected, field.key) };
  for (const section of form.sections.toReversed()) {
    const found = section.node.codec.step?.(ownValue(projected, section.key), key);
    if (found) return { ...found, path: [section.key, ...found.path] };
  }
  return field && { path: [field.key], node: undefined, projected: undefined };
}

/** Puts each entry into the first section that accepts its value. Returns `refused` if no section accepts an entry. */
function sortEntries(
  entries: readonly Entry[],
  sections: readonly Section[],
  run: Encoding,
): Entry[][] | typeof refused {
  const lists: Entry[][] = sections.map(() => []);
  for (const entry of entries) {
    const index = sections.findIndex(
      ({ names, value }) => (names?.has(entry.key) ?? true) && run.encode(value, entry.value) !== refused,
    );
    if (index === -1) return refused;
    lists[index]?.push(entry);
  }
  return lists;
}
