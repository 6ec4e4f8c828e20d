import { isObject } from "../json.ts";
import type { Flaw, Site } from "./find-flaw.ts";
import type { ProfileRules } from "./profile.ts";

type Totals = { add: (site: Site) => Flaw | undefined };

/**
 * Counts the properties, enum values and characters of a whole document. `add` counts one schema. It returns a flaw if
 * a total or the schema's own enum exceeds a limit of the profile, or if the name of a definition is not supported.
 */
export function createTotals(rules: ProfileRules): Totals {
  let properties = 0;
  let enumValues = 0;
  let unions = 0;
  let optionals = 0;
  let characters = 0;
  return {
    add({ schema }) {
      const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
      const definitions = Object.keys(isObject(schema.$defs) ? schema.$defs : {});
      const odd = definitions.find((name) => !rules.definitionName.test(name));
      if (odd !== undefined)
        return { under: "$defs", rule: `the name ${JSON.stringify(odd)} is not supported` };
      const values: unknown[] = Array.isArray(schema.enum) ? schema.enum : [];
      const inEnum = lengthOf(values);
      properties += names.length;
      enumValues += values.length;
      unions += schema.anyOf !== undefined || (Array.isArray(schema.type) && schema.type.length > 1) ? 1 : 0;
      optionals += names.length - (Array.isArray(schema.required) ? schema.required.length : 0);
      characters += lengthOf(names) + lengthOf(definitions) + inEnum + lengthOf([schema.const]);
      const { values: valuesMax, charactersMax } = rules.largeEnum;
      if (values.length > valuesMax && inEnum > charactersMax)
        return {
          under: "enum",
          rule: `at most ${charactersMax} characters in an enum of more than ${valuesMax} values`,
        };
      if (unions > rules.unionsMax) return { rule: `at most ${rules.unionsMax} unions` };
      if (!rules.requiresAll && optionals > rules.optionalsMax)
        return { rule: `at most ${rules.optionalsMax} properties that may be missing` };
      if (properties > rules.propertiesMax) return { rule: `at most ${rules.propertiesMax} properties` };
      if (enumValues > rules.enumValuesMax) return { rule: `at most ${rules.enumValuesMax} enum values` };
      return characters > rules.nameCharactersMax
        ? { rule: `at most ${rules.nameCharactersMax} characters in names, enum and const` }
        : undefined;
    },
  };
}

const lengthOf = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
