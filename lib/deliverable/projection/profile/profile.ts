/** The schemas that a provider accepts for structured output. A provider without limits has no rules. */
export type Profile = { name: string; rules: ProfileRules | undefined };

/** The limits of a strict mode, as data. */
export type ProfileRules = {
  /** Allowed keywords. */
  keywords: ReadonlySet<string>;
  /** Keywords that are allowed next to `$ref`. */
  besideRef: ReadonlySet<string>;
  types: ReadonlySet<string>;
  propertyName: RegExp;
  definitionName: RegExp;
  /** Nesting limit: the root is level 1, and `$ref` is not followed. */
  depthMax: number;
  propertiesMax: number;
  enumValuesMax: number;
  /** Total characters in names of properties and definitions and in strings of `enum` and `const`. */
  nameCharactersMax: number;
  /** A string enum with more than `values` values may have at most this many characters. */
  largeEnum: { values: number; charactersMax: number };
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * OpenAI's strict mode as documented, without the keywords that its documentation and its servers treat differently.
 * Source: `facts.md`, AI SDK 7, Strict mode.
 */
const openai: Profile = {
  name: "openai",
  rules: {
    keywords: words(
      "type title description properties required additionalProperties items enum const anyOf $ref $defs",
    ),
    besideRef: words(""),
    types: words("object array string number integer boolean null"),
    propertyName: /^[A-Za-z0-9_-]{1,64}$/,
    definitionName: /^[A-Za-z0-9_-]{1,64}$/,
    depthMax: 10,
    propertiesMax: 5_000,
    enumValuesMax: 1_000,
    nameCharactersMax: 120_000,
    largeEnum: { values: 250, charactersMax: 15_000 },
  },
};

/** Servers that accept any schema: it is sent unchanged. */
const none: Profile = { name: "none", rules: undefined };

/** All providers' profiles, by name. */
export const profiles = { openai, none } as const satisfies Record<string, Profile>;

/** The name of a profile; only the name is sent to the worker thread. */
export type ProfileName = keyof typeof profiles;
