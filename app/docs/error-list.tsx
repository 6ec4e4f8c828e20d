import type { OpenApiDocument } from "#lib/api/openapi/types.ts";
import { Words } from "./prose.tsx";

/** Returns the anchor of an error's description on the page. */
export const errorAnchor = (name: string): string => `error-${name}`;

/** Lists every error code with its meaning and an example. */
export const ErrorList = ({ responses }: { responses: OpenApiDocument["components"]["responses"] }) => (
  <section aria-labelledby="errors" className="mt-12">
    <h2 id="errors" className="scroll-mt-16 border-b pb-2 font-semibold text-xl">
      Errors
    </h2>
    <ul className="mt-3">
      {Object.entries(responses).map(([name, { description, content }]) => (
        <li key={name} id={errorAnchor(name)} className="scroll-mt-16 border-t py-2 first:border-t-0">
          <p className="text-soft">
            <Words text={description} />
          </p>
          <p className="font-mono text-faint text-xs [overflow-wrap:anywhere]">
            {JSON.stringify(content?.["application/json"]?.example)}
          </p>
        </li>
      ))}
    </ul>
  </section>
);
