import type { OpenApiDocument, OperationObject, ParameterObject } from "#lib/api/openapi/types.ts";
import { FieldLine } from "./field-line.tsx";
import { PartTitle } from "./part-title.tsx";

type Components = OpenApiDocument["components"];

const TITLES = { path: "Path", query: "Query", header: "Headers" } as const;

/** Shows the parameters of an operation, grouped by location: path, query or header. */
export function ParameterList({
  parameters,
  components,
}: {
  parameters: NonNullable<OperationObject["parameters"]>;
  components: Components;
}) {
  const found = parameters.flatMap((parameter) => find(parameter, components) ?? []);
  return (["path", "query", "header"] as const).map((place) => {
    const here = found.filter((parameter) => parameter.in === place);
    if (here.length === 0) return null;
    return (
      <div key={place}>
        <PartTitle>{TITLES[place]}</PartTitle>
        <ul>
          {here.map(({ name, required = false, description, schema }) => (
            <FieldLine
              key={name}
              name={name}
              mark={required ? "required" : undefined}
              schema={schema}
              description={description}
            />
          ))}
        </ul>
      </div>
    );
  });
}

const find = (parameter: ParameterObject | { $ref: string }, { parameters }: Components) =>
  "$ref" in parameter ? parameters[parameter.$ref.split("/").at(-1) ?? ""] : parameter;
