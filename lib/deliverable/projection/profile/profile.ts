/** What a provider accepts as a schema for structured output. A provider that has no limits has no rules. */
export type Profile = { name: string; rules: ProfileRules | undefined };

/** The limits of a strict mode, as data. */
export type ProfileRules = {
  /** Keywords that may stand in a schema. */
  keywords: ReadonlySet<string>;
  /** Keywords that may stand beside `$ref`. */
  besideRef: ReadonlySet<string>;
  types: ReadonlySet<string>;
  propertyName: RegExp;
  definitionName: RegExp;
  /** How deep schemas may stand in one another, the root being 1, without what is reached through `$ref`. */
  depthMax: number;
  propertiesMax: number;
  enumValuesMax: number;
  /** Names of properties and definitions, and the strings in `enum` and `const`, together. */
  nameCharactersMax: number;
  /** A string enum with more values than `values` may have at most so many characters in them. */
  largeEnum: { values: number; charactersMax: number };
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * OpenAI's strict mode as documented, without the keywords about which its documents and servers disagree.
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

/** Servers that take any schema: it is sent as it came. */
const none: Profile = { name: "none", rules: undefined };

/** All providers' profiles, by name. */
export const profiles = { openai, none } as const satisfies Record<string, Profile>;

/** The name of a profile: what of it travels to the worker thread. */
export type ProfileName = keyof typeof profiles;
