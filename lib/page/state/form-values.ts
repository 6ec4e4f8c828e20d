import { checkAnswer, listChoices, readDefaults } from "#lib/events/form-answer.ts";
import type { ElicitationForm, FormValue } from "./view-types.ts";

export { listChoices };

/** The values of a form while a person fills it in, by field name. */
export type FormValues = Record<string, FormValue | undefined>;

/** Returns the initial values of the fields of a form. */
export const startValues = (form: ElicitationForm): FormValues => readDefaults(form);

/** Returns the kept values of a form's fields. Values that do not fit the fields are left out. Undefined for none. */
export function readKeptValues(form: ElicitationForm, kept: unknown): FormValues | undefined {
  if (typeof kept !== "object" || kept === null) return undefined;
  const fields = Object.entries(kept).filter(([name, value]) => {
    const type = Object.hasOwn(form.properties, name) ? form.properties[name]?.type : undefined;
    if (type === "array") return Array.isArray(value) && value.every((each) => typeof each === "string");
    return type === "integer" ? typeof value === "number" : typeof value === type;
  });
  return { ...startValues(form), ...Object.fromEntries(fields) };
}

/**
 * Composes the answer from the values of the fields. An unchecked box is `false`; other empty fields are omitted.
 *
 * @returns the answer, and the problem of each invalid field, in the order of the form.
 */
export function readForm(
  form: ElicitationForm,
  values: FormValues,
): { answer: Record<string, FormValue>; problems: Record<string, string> } {
  const answer = Object.fromEntries(
    Object.entries(form.properties).flatMap(([name, { type }]): [string, FormValue][] => {
      const value = values[name];
      if (type === "boolean") return [[name, value === true]];
      const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
      return isEmpty ? [] : [[name, value]];
    }),
  );
  const problems = checkAnswer(form, answer).map(({ field, problem }) => [field, problem]);
  return { answer, problems: Object.fromEntries(problems) };
}
