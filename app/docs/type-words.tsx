import type { JsonSchema } from "#lib/api/openapi/json-schema.ts";
import { describeType } from "./describe-type.ts";

/** Returns the anchor of a schema's description on the page. */
export const schemaAnchor = (name: string): string => `schema-${name}`;

/** Shows the type of a schema in a few words. The names of named schemas are links. */
export function TypeWords({ schema }: { schema: JsonSchema }) {
  let offset = 0;
  return describeType(schema)
    .split(/((?<!["\w])[A-Z]\w+(?!["\w]))/)
    .map((piece, index) => {
      const key = offset;
      offset += piece.length;
      if (index % 2 === 0) return piece;
      return (
        <a
          key={key}
          href={`#${schemaAnchor(piece)}`}
          className="text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
        >
          {piece}
        </a>
      );
    });
}
