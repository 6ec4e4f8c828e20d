/** The schema in the editor, or the problem that the page found in the text. */
export type ReadSchema =
  | { isValid: true; schema: Record<string, unknown> }
  | { isValid: false; problem: string };

/** What a person has written as the schema. */
export type WrittenSchema = { text: string; read: ReadSchema };

/** The schema before the person has written any. */
export const NO_SCHEMA: WrittenSchema = {
  text: "",
  read: {
    isValid: false,
    problem: "The schema is empty or not complete. Add fields, or take the example.",
  },
};
