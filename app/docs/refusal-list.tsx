import type { OpenApiDocument } from "#lib/api/openapi/types.ts";
import { Words } from "./prose.tsx";

/** Where a refusal is described on the page. */
export const refusalAnchor = (name: string): string => `refusal-${name}`;

/** What every refusal means, with a sentence as it comes. */
export const RefusalList = ({ responses }: { responses: OpenApiDocument["components"]["responses"] }) => (
  <section aria-labelledby="refusals" className="mt-12">
    <h2 id="refusals" className="scroll-mt-16 border-b pb-2 font-semibold text-xl">
      Refusals
    </h2>
    <ul className="mt-3">
      {Object.entries(responses).map(([name, { description, content }]) => (
        <li key={name} id={refusalAnchor(name)} className="scroll-mt-16 border-t py-2 first:border-t-0">
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
