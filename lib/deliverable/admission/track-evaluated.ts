import { _, type CodeKeywordDefinition, type KeywordCxt, Name, str } from "ajv";
import { not } from "ajv/dist/compile/codegen/index.js";
import { Type } from "ajv/dist/compile/util.js";
import type AjvCore from "ajv/dist/core.js";
import type { SchemaLocation, SchemaObject } from "#lib/projection/schema/walk-schema.ts";
import type { Draft } from "./find-draft.ts";

/**
 * A keyword of our own, which is added to each subschema if evaluated properties and items have to be tracked. It is
 * the first rule of a subschema. It declares the variables for what was evaluated, so that a branch which is not valid
 * cannot discard what was evaluated before it. In ajv itself, a branch may declare the variables.
 */
const TRACKED = "$tracksEvaluated";

/**
 * Marks a schema whose draft and keywords require that evaluated properties and items are tracked, and replaces the
 * keywords of ajv that track them wrongly: `if` does nothing without `then` and `else`, and counts even if it does not
 * match; `contains` counts all items; `unevaluatedItems` misreads a branch that evaluates all items; keywords for objects
 * evaluate all properties of lists.
 * See sections 10.2.2, 10.3.1.3 and 11 of JSON Schema 2020-12, Core, and sections 9.2.2 and 9.3.1 of 2019-09, Core.
 *
 * @param places gets the keyword {@link TRACKED} in each schema.
 */
export function trackEvaluated(
  ajv: AjvCore,
  draft: Draft,
  places: ReadonlyMap<SchemaObject, SchemaLocation>,
): AjvCore {
  const keywords = ["unevaluatedProperties", "unevaluatedItems"].filter(
    (keyword) => !draft.ignoredKeywords.has(keyword),
  );
  const isUsed = [...places.values()].some(({ schema }) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  if (!isUsed) return ajv;
  for (const { schema } of places.values()) schema[TRACKED] = true;
  for (const keyword of ["if", "contains", "unevaluatedItems"]) ajv.removeKeyword(keyword);
  // `contains` evaluates items since 2020-12, which knows `prefixItems`.
  const evaluates = !draft.ignoredKeywords.has("prefixItems");
  for (const keyword of [tracked, condition, defineContains(evaluates), unevaluatedItems])
    ajv.addKeyword(keyword);
  evaluateOnlyObjects(ajv, "additionalProperties", "properties");
  if (!draft.ignoredKeywords.has("unevaluatedProperties")) evaluateOnlyObjects(ajv, "unevaluatedProperties");
  return ajv;
}

/**
 * Lets a keyword that evaluates all properties do so only if the value is an object. In ajv itself, it does so for every
 * value, and items that `contains` evaluates are tracked in the same place.
 *
 * @param before the keyword that has to come after this one.
 */
function evaluateOnlyObjects(ajv: AjvCore, keyword: string, before?: string): void {
  const definition = ajv.getKeyword(keyword);
  if (typeof definition !== "object" || !("code" in definition)) throw new Error(`ajv lacks ${keyword}`);
  const { code } = definition;
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    ...definition,
    ...(before !== undefined && { before }),
    code(cxt, ruleType) {
      const { gen, it } = cxt;
      const { props } = it;
      code(cxt, ruleType);
      if (!(props instanceof Name)) return;
      it.props = props;
      // ajv runs this code only if the value is an object.
      gen.assign(props, true);
    },
  });
}

const tracked: CodeKeywordDefinition = {
  keyword: TRACKED,
  schemaType: "boolean",
  before: "$ref",
  code({ gen, it }) {
    it.props = gen.var("props", _`Object.create(null)`);
    it.items = gen.var("items", 0);
  },
};

const condition: CodeKeywordDefinition = {
  keyword: "if",
  schemaType: ["object", "boolean"],
  trackErrors: true,
  error: {
    message: ({ params }) => str`must match "${params.clause}" schema`,
    params: ({ params }) => _`{failingKeyword: ${params.clause}}`,
  },
  code(cxt) {
    const { gen, parentSchema } = cxt;
    const valid = gen.let("valid", true);
    const matches = gen.name("_valid");
    const quiet = { compositeRule: true, createErrors: false, allErrors: false } as const;
    cxt.mergeValidEvaluated(cxt.subschema({ keyword: "if", ...quiet }, matches), matches);
    cxt.reset();
    const clause = gen.let("clause");
    cxt.setParams({ clause });
    const apply = (keyword: "then" | "else") => () => {
      if (parentSchema[keyword] === undefined) return;
      const result = gen.name("_valid");
      const subschema = cxt.subschema({ keyword }, result);
      gen.assign(valid, result).assign(clause, _`${keyword}`);
      cxt.mergeValidEvaluated(subschema, valid);
    };
    gen.if(matches, apply("then"), apply("else"));
    cxt.pass(valid, () => cxt.error(true));
  },
};

/**
 * The prefix of the names under which items that `contains` evaluated are tracked, among the evaluated properties. ajv
 * tracks only how many items at the beginning of a list were evaluated. A value is either a list or an object.
 */
const ITEM_PREFIX = "\0item ";

/** @param evaluates whether an item that matches counts as evaluated. */
const defineContains = (evaluates: boolean): CodeKeywordDefinition => ({
  keyword: "contains",
  schemaType: ["object", "boolean"],
  trackErrors: true,
  error: {
    message: ({ params: { least, most } }) =>
      most === undefined
        ? str`must contain at least ${least} valid item(s)`
        : str`must contain at least ${least} and no more than ${most} valid item(s)`,
    params: ({ params: { least } }) => _`{minContains: ${least}}`,
  },
  code(cxt) {
    const { gen, data, it, parentSchema } = cxt;
    const { minContains: least = 1, maxContains: most } = parentSchema;
    cxt.setParams({ least, most });
    const { props } = it;
    const valid = gen.let("valid", true);
    gen.if(_`Array.isArray(${data})`, () => {
      const count = gen.let("count", 0);
      const matches = gen.name("_valid");
      gen.forRange("i", 0, _`${data}.length`, (index) => {
        const quiet = { compositeRule: true, createErrors: false, allErrors: false } as const;
        cxt.subschema({ keyword: "contains", dataProp: index, dataPropType: Type.Num, ...quiet }, matches);
        gen.if(matches, () => {
          gen.code(_`${count}++`);
          if (evaluates && props instanceof Name)
            gen.if(_`${props} !== true`, () => gen.assign(_`${props}[${ITEM_PREFIX} + ${index}]`, true));
        });
      });
      gen.assign(
        valid,
        most === undefined ? _`${count} >= ${least}` : _`${count} >= ${least} && ${count} <= ${most}`,
      );
    });
    cxt.reset();
    cxt.pass(valid);
  },
});

const unevaluatedItems: CodeKeywordDefinition = {
  keyword: "unevaluatedItems",
  type: "array",
  schemaType: ["boolean", "object"],
  trackErrors: true,
  error: {
    message: ({ params: { index } }) => str`must NOT have an item at index ${index}`,
    params: ({ params: { index } }) => _`{unevaluatedItem: ${index}}`,
  },
  code(cxt) {
    const { gen, data, schema, it, errsCount } = cxt;
    const { items, props } = it;
    if (items === true) return;
    it.items = true;
    const length = gen.const("length", _`${data}.length`);
    const from = items instanceof Name ? _`${items} === true ? ${length} : ${items}` : _`${items ?? 0}`;
    gen.forRange("i", gen.const("from", from), length, (index) => {
      const isEvaluated =
        props instanceof Name ? _`${props} !== true && ${props}[${ITEM_PREFIX} + ${index}]` : _`false`;
      gen.if(not(isEvaluated), () => checkItem(cxt, index));
    });
    cxt.ok(_`${errsCount} === errors`);

    function checkItem({ allErrors }: KeywordCxt, index: Name): void {
      if (schema === false) {
        cxt.setParams({ index });
        cxt.error();
        gen.break();
        return;
      }
      const valid = gen.name("valid");
      cxt.subschema({ keyword: "unevaluatedItems", dataProp: index, dataPropType: Type.Num }, valid);
      if (!allErrors) gen.if(not(valid), () => gen.break());
    }
  },
};
