import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type AjvCore from "ajv/dist/core.js";
import draft06MetaSchema from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };
import AjvDraft04 from "ajv-draft-04";
import { ignoredKeywords } from "#lib/projection/schema/draft-keywords.ts";
import { compareExactly } from "./exact-equality.ts";

/** What the checker needs to know about a draft of JSON Schema. */
export type Draft = {
  metaSchemaId: string;
  /**
   * Creates an ajv instance with the draft's vocabulary. The instance also has the draft's meta-schema, unless the
   * option `meta` is false.
   */
  createAjv: (options: Options) => AjvCore;
  /** Whether keywords next to a `$ref` are ignored, as in all drafts up to draft-07. */
  ignoresRefSiblings: boolean;
  ignoredKeywords: ReadonlySet<string>;
  /** The keyword that other drafts use for a schema's id, and that this draft does not know. */
  foreignId: "id" | "$id";
};

const drafts: Record<string, Draft> = {
  "json-schema.org/draft-04/schema": {
    metaSchemaId: "http://json-schema.org/draft-04/schema",
    ignoredKeywords: ignoredKeywords["draft-04"],
    createAjv: (options) => compareExactly(new AjvDraft04(options)),
    ignoresRefSiblings: true,
    foreignId: "$id",
  },
  "json-schema.org/draft-06/schema": {
    metaSchemaId: "http://json-schema.org/draft-06/schema",
    ignoredKeywords: ignoredKeywords["draft-06"],
    createAjv: (options) => {
      const ajv = compareExactly(new Ajv(options));
      return options.meta === false ? ajv : ajv.addMetaSchema(draft06MetaSchema);
    },
    ignoresRefSiblings: true,
    foreignId: "id",
  },
  "json-schema.org/draft-07/schema": {
    metaSchemaId: "http://json-schema.org/draft-07/schema",
    ignoredKeywords: ignoredKeywords["draft-07"],
    createAjv: (options) => compareExactly(new Ajv(options)),
    ignoresRefSiblings: true,
    foreignId: "id",
  },
  "json-schema.org/draft/2019-09/schema": {
    metaSchemaId: "https://json-schema.org/draft/2019-09/schema",
    ignoredKeywords: ignoredKeywords["2019-09"],
    createAjv: (options) => compareExactly(new Ajv2019(options)),
    ignoresRefSiblings: false,
    foreignId: "id",
  },
  "json-schema.org/draft/2020-12/schema": {
    metaSchemaId: "https://json-schema.org/draft/2020-12/schema",
    ignoredKeywords: ignoredKeywords["2020-12"],
    createAjv: (options) => compareExactly(new Ajv2020(options)),
    ignoresRefSiblings: false,
    foreignId: "id",
  },
};

/** The names of the supported drafts, as error messages list them. */
export const DRAFT_NAMES = "draft-04, draft-06, draft-07, 2019-09 or 2020-12";

/**
 * Finds the draft that `$schema` names, with http or https and with or without a final `#`. Source: `wire.md`,
 * Structured output.
 *
 * @returns draft 2020-12 if `$schema` is undefined; undefined for an unknown draft.
 */
export function findDraft($schema: unknown): Draft | undefined {
  if ($schema === undefined) return drafts["json-schema.org/draft/2020-12/schema"];
  if (typeof $schema !== "string") return undefined;
  const key = $schema.replace(/^https?:\/\//, "").replace(/#$/, "");
  return Object.hasOwn(drafts, key) ? drafts[key] : undefined;
}
