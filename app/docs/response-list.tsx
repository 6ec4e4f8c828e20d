import { Badge } from "#components/ui/badge.tsx";
import type { OperationObject, ResponseObject } from "#lib/api/openapi/types.ts";
import { errorAnchor } from "./error-list.tsx";
import { Words } from "./prose.tsx";
import { TypeWords } from "./type-words.tsx";

type Responses = OperationObject["responses"];

/** Shows the responses of an operation, by status. Errors are listed in one line, as links to their descriptions. */
export function ResponseList({ responses }: { responses: Responses }) {
  const described = Object.entries(responses).flatMap(([status, response]) =>
    "$ref" in response ? [] : [{ status, response }],
  );
  return (
    <>
      <ul>
        {described.map(({ status, response }) => (
          <ResponseLine key={status} status={status} response={response} />
        ))}
      </ul>
      <Errors responses={responses} />
    </>
  );
}

function ResponseLine({ status, response }: { status: string; response: ResponseObject }) {
  const headers = Object.keys(response.headers ?? {}).filter((name) => !name.startsWith("RateLimit-"));
  return (
    <li className="flex gap-3 border-t py-2 first:border-t-0">
      <Badge tone={/^[123]/.test(status) ? "good" : "quiet"} className="mt-0.5 font-mono">
        {status}
      </Badge>
      <div className="min-w-0 flex-1 text-sm text-soft">
        <Words text={response.description} />
        {headers.length > 0 && <p className="text-faint text-xs">Headers: {headers.join(", ")}</p>}
        {Object.entries(response.content ?? {}).map(([type, { schema }]) => (
          <p key={type} className="font-mono text-faint text-xs">
            {type === "application/json" ? "" : `${type} `}
            {schema && Object.keys(schema).length > 0 && <TypeWords schema={schema} />}
          </p>
        ))}
      </div>
    </li>
  );
}

function Errors({ responses }: { responses: Responses }) {
  const names = Object.entries(responses).flatMap(([status, response]) =>
    "$ref" in response ? [{ status, name: response.$ref.split("/").at(-1) ?? "" }] : [],
  );
  if (names.length === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-1 border-t pt-2 text-xs">
      <span className="text-faint">Errors</span>
      {names.map(({ status, name }) => (
        <a
          key={name}
          href={`#${errorAnchor(name)}`}
          className="text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
        >
          {status} {name}
        </a>
      ))}
    </p>
  );
}
