/**
 * Describes which schemas a provider accepts for structured output. Without `rules`, the provider accepts any schema.
 */
export type Profile = { name: string; rules: ProfileRules | undefined };

/** The limits of a provider's strict mode, as data. */
export type ProfileRules = {
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
  /**
   * Limit on the total characters of the names of properties and definitions and of the strings in `enum` and `const`.
   */
  nameCharactersMax: number;
  /** The strings of an enum with more than `values` values may have at most `charactersMax` characters in total. */
  largeEnum: { values: number; charactersMax: number };
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * OpenAI's strict mode as documented. Keywords that OpenAI's servers treat differently from its documentation are left
 * out. Source: `facts.md`, AI SDK 7, Strict mode.
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

/** The profile of servers that accept any schema. The caller's schema is sent unchanged. */
const none: Profile = { name: "none", rules: undefined };

/** All providers' profiles, by name. */
export const profiles = { openai, none } as const satisfies Record<string, Profile>;

/** The name of a profile. The worker thread receives the name instead of the profile. */
export type ProfileName = keyof typeof profiles;
