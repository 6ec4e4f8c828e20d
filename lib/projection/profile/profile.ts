import type { BoundRules } from "../schema/read-bounds.ts";

/**
 * Describes which schemas a provider accepts for structured output. Without `rules`, the provider accepts any schema.
 */
export type Profile = {
  name: string;
  /** The provider's documents that the rules come from, and the day on which they were read or quoted. */
  source: string;
  rules: ProfileRules | undefined;
};

/** The rules of a provider's strict mode, as data. `Infinity` means that no limit is known. */
export type ProfileRules = {
  keywords: ReadonlySet<string>;
  /** Keywords that are allowed next to `$ref`. */
  besideRef: ReadonlySet<string>;
  types: ReadonlySet<string>;
  propertyName: RegExp;
  definitionName: RegExp;
  /** Whether every property must be in `required`. */
  requiresAll: boolean;
  /** Whether a schema may refer to itself. */
  allowsRecursion: boolean;
  /** Whether null is added to the `type` of a list or an object, rather than as a branch of an `anyOf`. */
  hasNullableParts: boolean;
  /** Whether the first keys of the objects in an `anyOf` must differ. */
  hasDistinctBranches: boolean;
  /** Nesting limit: the root is level 1, and `$ref` is not followed. */
  depthMax: number;
  propertiesMax: number;
  /** Limit on the properties that are not in `required`. */
  optionalsMax: number;
  /** Limit on the schemas with an `anyOf` or several types. */
  unionsMax: number;
  enumValuesMax: number;
  /**
   * Limit on the total characters of the names of properties and definitions and of the strings in `enum` and `const`.
   */
  nameCharactersMax: number;
  /** The strings of an enum with more than `values` values may have at most `charactersMax` characters in total. */
  largeEnum: { values: number; charactersMax: number };
  /** The keywords for bounds that the first form of a schema contains. */
  bounds: BoundRules;
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * Whether a pattern has only the parts that every documented subset of regular expressions has, and is anchored at both
 * ends, so that it means the same to a provider that matches the whole text.
 */
const isSimplePattern = (source: string): boolean =>
  source.length <= 200 && /^\^(?:[^\\()^$]|\\[dws.+*?/\-[\]{}()|^$])*\$$/.test(source);

/**
 * OpenAI's strict mode as documented. Keywords that OpenAI's servers treat differently from its documentation are left
 * out. Source: `facts.md`, AI SDK 7, Strict mode.
 */
const openai: Profile = {
  name: "openai",
  source: "developers.openai.com, Structured model outputs, Supported schemas; as quoted on 8 October 2026",
  rules: {
    keywords: words(
      "type title description properties required additionalProperties items enum const anyOf $ref $defs minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems pattern format",
    ),
    besideRef: words(""),
    types: words("object array string number integer boolean null"),
    propertyName: /^[A-Za-z0-9_-]{1,64}$/,
    definitionName: /^[A-Za-z0-9_-]{1,64}$/,
    requiresAll: true,
    allowsRecursion: true,
    hasNullableParts: true,
    hasDistinctBranches: true,
    depthMax: 10,
    propertiesMax: 5_000,
    optionalsMax: 0,
    unionsMax: Number.POSITIVE_INFINITY,
    enumValuesMax: 1_000,
    nameCharactersMax: 120_000,
    largeEnum: { values: 250, charactersMax: 15_000 },
    bounds: {
      numbers: words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
      minItems: () => true,
      maxItems: true,
      formats: words("date-time time date duration email hostname ipv4 ipv6 uuid"),
      pattern: isSimplePattern,
    },
  },
};

/** Rules that Anthropic and Gemini share. */
const WITHOUT_RECURSION = {
  besideRef: words(""),
  types: words("object array string number integer boolean null"),
  propertyName: /^[A-Za-z0-9_-]{1,64}$/,
  definitionName: /^[A-Za-z0-9_-]{1,64}$/,
  requiresAll: false,
  allowsRecursion: false,
  hasNullableParts: false,
  hasDistinctBranches: true,
  depthMax: Number.POSITIVE_INFINITY,
  propertiesMax: Number.POSITIVE_INFINITY,
};

/** Anthropic's structured outputs. The limits apply to all schemas of a request; a structured call has only one. */
const anthropic: Profile = {
  name: "anthropic",
  source:
    "platform.claude.com, Structured outputs, JSON Schema limitations; as quoted on 31 July and in October 2026",
  rules: {
    keywords: words(
      "type title description properties required additionalProperties items enum const anyOf $ref $defs minItems pattern format",
    ),
    ...WITHOUT_RECURSION,
    optionalsMax: 24,
    unionsMax: 16,
    enumValuesMax: Number.POSITIVE_INFINITY,
    nameCharactersMax: Number.POSITIVE_INFINITY,
    largeEnum: { values: Number.POSITIVE_INFINITY, charactersMax: Number.POSITIVE_INFINITY },
    bounds: {
      numbers: words(""),
      minItems: (value) => value <= 1,
      maxItems: false,
      formats: words("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
      // The provider's own libraries write patterns as text, although the document lists them.
      pattern: () => false,
    },
  },
};

/** Gemini's structured output with a JSON Schema. Unknown keywords are ignored, so they must not appear. */
const gemini: Profile = {
  name: "gemini",
  source: "ai.google.dev, Structured output, JSON Schema support; updated 23 September 2026, second-hand",
  rules: {
    keywords: words(
      "type title description properties required additionalProperties items enum anyOf $ref $defs minimum maximum minItems maxItems format",
    ),
    ...WITHOUT_RECURSION,
    optionalsMax: 0,
    unionsMax: Number.POSITIVE_INFINITY,
    enumValuesMax: Number.POSITIVE_INFINITY,
    nameCharactersMax: Number.POSITIVE_INFINITY,
    largeEnum: { values: Number.POSITIVE_INFINITY, charactersMax: Number.POSITIVE_INFINITY },
    bounds: {
      numbers: words("minimum maximum"),
      minItems: () => true,
      maxItems: true,
      formats: words("date-time date time"),
      pattern: () => false,
    },
  },
};

/** The profile of servers that accept any schema. The caller's schema is sent unchanged. */
const none: Profile = { name: "none", source: "no rules", rules: undefined };

/** All providers' profiles, by name. */
export const profiles = { openai, anthropic, gemini, none } as const satisfies Record<string, Profile>;

/** The name of a profile. The worker thread receives the name instead of the profile. */
export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles) as ProfileName[];

/**
 * Chooses the profile of a model by its id, which may have a vendor before the name, as gateways use it:
 * `anthropic/claude-…`, `bedrock/anthropic.claude-…`, `google/gemini-…`. Any other model has the profile `openai`, because
 * most servers accept schemas that follow OpenAI's rules.
 */
export function chooseProfile(modelId: string): ProfileName {
  const id = modelId.toLowerCase();
  if (/(^|[/.:])(anthropic|claude)([/.:-]|$)/.test(id)) return "anthropic";
  if (/(^|[/.:])gemini([/.:-]|$)/.test(id)) return "gemini";
  return "openai";
}

/**
 * The forms of a schema in a provider's native format, from the first to the plainest: with keywords for bounds, with
 * words instead, and compact. A form that a provider refuses is followed by the next one. Source: decision 140.
 */
export const schemaForms = ["bounds", "words", "compact"] as const;
export type SchemaForm = (typeof schemaForms)[number];
