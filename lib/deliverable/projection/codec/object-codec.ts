import { isObject, type JsonSchema, ownValue, setOwn } from "../json.ts";
import { addWords } from "./add-words.ts";
import { chooseNames } from "./choose-names.ts";
import {
  type Codec,
  closedObject,
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
  /** Only some values of the object have to keep to the schema given here; the others travel among the entries. */
  isSoft: boolean;
};

/** Properties under other names: the place of their entries, and that of each one's value. */
export type Section = { node: Node; value: Node };

type ProjectedField = Field & { key: string; optional: OptionalForm | undefined };
type ProjectedSection = Section & { key: string };

/** An object: its named properties, and one list of entries for each kind of further ones. */
export function createObjectCodec(declared: readonly Field[], open: readonly Section[]): Codec {
  const form = once(() => {
    const live = declared.filter(({ slot, isRequired }) => isRequired || !isNever(slot.node));
    const sections = open.filter(({ value }) => !isNever(value));
    const wanted = sections.map((_, index) => {
      if (live.length === 0 && index === 0) return "entries";
      return index === sections.length - 1 && live.length > 0 ? "additional" : "entries";
    });
    const keys = chooseNames([...live.map(({ name }) => name), ...wanted]);
    const keyAt = (index: number) => keys[index] ?? "";
    const fields: ProjectedField[] = live.map((field, index) => ({
      ...field,
      key: keyAt(index),
      optional: field.isRequired ? undefined : createOptionalForm(field.slot),
    }));
    return {
      keys,
      known: new Set(keys),
      fields,
      byName: new Map(fields.map((field) => [field.name, field])),
      sections: sections.map(
        (section, index): ProjectedSection => ({ ...section, key: keyAt(live.length + index) }),
      ),
    };
  });

  return {
    children: () => {
      const { fields, sections } = form();
      const places = fields.flatMap(({ slot, optional }) => [slot.node, ...(optional?.nodes() ?? [])]);
      return [...places, ...sections.map(({ node }) => node)];
    },
    hasValue: (has) => declared.every(({ slot, isRequired }) => !isRequired || has(slot.node)),
    outputs: () => ({
      kinds: new Set(["object"]),
      heads: [{ first: form().keys[0] ?? "", keys: form().keys }],
    }),

    // A constant that stands for the whole object, like a `type` or `kind`.
    label() {
      for (const { node } of declared.filter(({ isRequired }) => isRequired).map(({ slot }) => slot)) {
        const choices =
          "choices" in node.codec && Array.isArray(node.codec.choices) ? node.codec.choices : [];
        if (choices.length === 1 && typeof choices[0] === "string") return choices[0];
      }
      return undefined;
    },

    schema(emit) {
      const { fields, sections } = form();
      const properties: Record<string, JsonSchema> = {};
      for (const { key, name, slot, optional } of fields) {
        const schema = optional ? optional.schema(emit) : emit(slot, 1);
        properties[key] =
          key === name ? schema : addWords(schema, "", `The property ${JSON.stringify(name)}.`);
      }
      for (const { key, node } of sections) properties[key] = emit({ node, note: "" }, 1);
      return closedObject(properties);
    },

    encode(value, run) {
      if (!isObject(value)) return refused;
      const { fields, byName, sections } = form();
      const projected: Record<string, unknown> = {};
      const others: Entry[] = [];
      for (const { name, isRequired } of fields)
        if (isRequired && !Object.hasOwn(value, name)) return refused;
      for (const { name, key, slot, optional, isSoft } of fields) {
        projected[key] = optional?.absent();
        if (!Object.hasOwn(value, name)) continue;
        const made = run.encode(slot.node, value[name]);
        if (made !== refused) projected[key] = made;
        else if (isSoft) others.push({ key: name, value: value[name] });
        else return refused;
      }
      for (const key of Object.keys(value)) if (!byName.has(key)) others.push({ key, value: value[key] });
      const lists = sortEntries(others, sections, run.encode);
      if (lists === refused) return refused;
      for (const [index, { key, node }] of sections.entries())
        projected[key] = node.codec.encode(lists[index] ?? [], run);
      return projected;
    },

    // Properties that the schema names win over entries, and of entries with the same key the last one wins. A server
    // that does not keep to the format may leave out what is absent: that is not held against it.
    decode(projected, run) {
      if (!isObject(projected)) return run.refuse("must be object");
      const { known, fields, sections } = form();
      const missing = fields.find(({ key, optional }) => !optional && !Object.hasOwn(projected, key));
      if (missing !== undefined) return run.refuse(`must have the property "${missing.key}"`);
      const stranger = Object.keys(projected).find((key) => !known.has(key));
      if (stranger !== undefined) return run.refuse(`must not have the property "${stranger.slice(0, 100)}"`);
      const value: Record<string, unknown> = {};
      for (const { name, key, slot, optional } of fields) {
        if (optional && (!Object.hasOwn(projected, key) || optional.isAbsent(projected[key]))) continue;
        const back = run.decode(slot.node, projected[key], key);
        if (back === refused) return refused;
        setOwn(value, name, back);
      }
      const named = new Set(Object.keys(value));
      for (const { key, node } of sections) {
        if (!Object.hasOwn(projected, key)) continue;
        const entries = run.decode(node, projected[key], key);
        if (entries === refused) return refused;
        for (const entry of entries as Entry[])
          if (!named.has(entry.key)) setOwn(value, entry.key, entry.value);
      }
      return value;
    },

    step(projected, key): Step | undefined {
      if (!isObject(projected)) return undefined;
      const { byName, sections } = form();
      const field = byName.get(key);
      if (field && field.optional?.isAbsent(ownValue(projected, field.key)) !== true)
        return { path: [field.key], node: field.slot.node, projected: ownValue(projected, field.key) };
      for (const section of sections.toReversed()) {
        const found = section.node.codec.step?.(ownValue(projected, section.key), key);
        if (found) return { ...found, path: [section.key, ...found.path] };
      }
      return field && { path: [field.key], node: undefined, projected: undefined };
    },
  };
}

/** The entries by section: each goes into the first section that takes its value. */
function sortEntries(
  entries: readonly Entry[],
  sections: readonly Section[],
  encode: (node: Node, value: unknown) => unknown,
): Entry[][] | typeof refused {
  const lists: Entry[][] = sections.map(() => []);
  for (const entry of entries) {
    const index = sections.findIndex((section) => encode(section.value, entry.value) !== refused);
    if (index === -1) return refused;
    lists[index]?.push(entry);
  }
  return lists;
}
