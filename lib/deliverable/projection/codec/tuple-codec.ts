import { isObject, type JsonSchema, ownValue } from "../json.ts";
import { type Codec, closedObject, isNever, once, refused, type Slot, type Step } from "./codec.ts";
import { createOptionalForm, type OptionalForm } from "./optional-form.ts";

type Position = { name: string; slot: Slot; optional: OptionalForm | undefined };

/**
 * A list whose places have schemas of their own: it travels as `{ "item_0": …, "item_1": …, "rest": […] }`. An item
 * after the shortest length may be absent; where the model leaves one out in the middle, the later ones move up.
 */
export function createTupleCodec(slots: readonly Slot[], rest: Slot | undefined, lengthMin: number): Codec {
  const positions: Position[] = slots.map((slot, index) => ({
    name: `item_${index}`,
    slot,
    optional: index < lengthMin ? undefined : createOptionalForm(slot),
  }));
  const hasRest = once(() => rest !== undefined && !isNever(rest.node));
  const keys = once(() => [...positions.map(({ name }) => name), ...(hasRest() ? ["rest"] : [])]);

  const isPresent = ({ name, optional }: Position, projected: Record<string, unknown>) =>
    optional?.isAbsent(projected[name]) !== true;

  return {
    children: () => {
      const places = positions.flatMap(({ slot, optional }) => [slot.node, ...(optional?.nodes() ?? [])]);
      return rest && hasRest() ? [...places, rest.node] : places;
    },
    hasValue: (has) =>
      positions.every(({ slot, optional }) => optional !== undefined || has(slot.node)) &&
      (lengthMin <= positions.length || (rest !== undefined && has(rest.node))),
    outputs: () => ({ kinds: new Set(["object"]), heads: [{ first: "item_0", keys: keys() }] }),

    schema(emit) {
      const properties: Record<string, JsonSchema> = {};
      for (const { name, slot, optional } of positions)
        properties[name] = optional ? optional.schema(emit) : emit(slot, 1);
      if (rest && hasRest()) properties.rest = { type: "array", items: emit(rest, 2) };
      return closedObject(properties);
    },

    encode(value, run) {
      if (!Array.isArray(value) || value.length < lengthMin) return refused;
      const projected: Record<string, unknown> = {};
      for (const [index, { name, slot, optional }] of positions.entries()) {
        const form = index < value.length ? run.encode(slot.node, value[index]) : optional?.absent();
        if (form === refused) return refused;
        projected[name] = form;
      }
      const tail: unknown[] = value.slice(positions.length);
      if (!rest || !hasRest()) return tail.length === 0 ? projected : refused;
      const forms: unknown[] = [];
      for (const item of tail) {
        const form = run.encode(rest.node, item);
        if (form === refused) return refused;
        forms.push(form);
      }
      return { ...projected, rest: forms };
    },

    decode(projected, run) {
      if (!isObject(projected)) return run.refuse("must be object");
      const missing = keys().find((key) => !Object.hasOwn(projected, key));
      if (missing !== undefined) return run.refuse(`must have the property "${missing}"`);
      if (Object.keys(projected).length > keys().length) return run.refuse("must have no other properties");
      const value: unknown[] = [];
      for (const position of positions) {
        if (!isPresent(position, projected)) continue;
        const item = run.decode(position.slot.node, projected[position.name], position.name);
        if (item === refused) return refused;
        value.push(item);
      }
      if (!rest || !hasRest()) return value;
      if (!Array.isArray(projected.rest)) return run.refuse("must be array", "rest");
      for (const [index, form] of projected.rest.entries()) {
        const item = run.decode(rest.node, form, "rest", index);
        if (item === refused) return refused;
        value.push(item);
      }
      return value;
    },

    step(projected, key): Step | undefined {
      if (!isObject(projected)) return undefined;
      const present = positions.filter((position) => isPresent(position, projected));
      const position = present[Number(key)];
      if (position) {
        const { name, slot } = position;
        return { path: [name], node: slot.node, projected: ownValue(projected, name) };
      }
      const index = Number(key) - present.length;
      const list = ownValue(projected, "rest");
      return {
        path: ["rest", String(index)],
        node: rest?.node,
        projected: Array.isArray(list) ? list[index] : undefined,
      };
    },
  };
}
