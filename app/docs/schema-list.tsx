import type { Components } from "#lib/api/openapi/json-schema.ts";
import { Prose } from "./prose.tsx";
import { SchemaFields } from "./schema-fields.tsx";
import { schemaAnchor } from "./type-words.tsx";

/** Lists all named schemas. The operations link to them. */
export const SchemaList = ({ schemas }: { schemas: Components }) => (
  <section aria-labelledby="schemas" className="mt-12">
    <h2 id="schemas" className="scroll-mt-16 border-b pb-2 font-semibold text-xl">
      Schemas
    </h2>
    <div className="gap-x-10 xl:columns-2">
      {Object.entries(schemas).map(([name, schema]) => (
        <article key={name} aria-labelledby={schemaAnchor(name)} className="mt-8 break-inside-avoid">
          <h3
            id={schemaAnchor(name)}
            className="scroll-mt-16 font-medium font-mono text-sm target:text-accent"
          >
            {name}
          </h3>
          {schema.description !== undefined && <Prose text={schema.description} />}
          <SchemaFields schema={schema} schemas={schemas} />
        </article>
      ))}
    </div>
  </section>
);
