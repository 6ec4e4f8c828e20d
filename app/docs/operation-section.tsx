import type { MediaObject, OpenApiDocument } from "#lib/api/openapi/types.ts";
import { composeExample } from "./compose-example.ts";
import { Example } from "./example.tsx";
import type { PlacedOperation } from "./list-groups.ts";
import { MethodMark } from "./method-mark.tsx";
import { ParameterList } from "./parameter-list.tsx";
import { PartTitle } from "./part-title.tsx";
import { Prose } from "./prose.tsx";
import { ResponseList } from "./response-list.tsx";
import { SchemaFields } from "./schema-fields.tsx";

type Components = OpenApiDocument["components"];

/** Shows one operation: parameters, body and responses on one side, examples on the other side. */
export function OperationSection(props: PlacedOperation & { baseUrl: string; components: Components }) {
  const { method, path, isCallback, operation, components } = props;
  const { operationId, summary, description, requestBody, responses, "x-websocket": socket } = operation;
  const media = Object.values(requestBody?.content ?? {})[0];
  return (
    <article
      aria-labelledby={operationId}
      className="mt-10 grid gap-x-10 gap-y-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,440px)]"
    >
      <div className="min-w-0">
        <h3 id={operationId} className="scroll-mt-16 font-semibold text-lg">
          {summary}
        </h3>
        <p className="mt-1 flex items-baseline gap-2 font-mono text-xs">
          <MethodMark method={isCallback ? "EVENT" : method} />
          <code className="[overflow-wrap:anywhere]">{path}</code>
        </p>
        {description !== undefined && (
          <div className="mt-3">
            <Prose text={description} />
          </div>
        )}
        {!isCallback && (
          <p className="mt-3 text-faint text-xs">{describeCredential(operation.security ?? [])}</p>
        )}
        <ParameterList parameters={operation.parameters ?? []} components={components} />
        {media?.schema && (
          <>
            <PartTitle>Body</PartTitle>
            {requestBody?.description && <p className="text-faint text-xs">{requestBody.description}</p>}
            <SchemaFields schema={media.schema} schemas={components.schemas} isSent={!isCallback} />
          </>
        )}
        {socket && (
          <>
            <PartTitle>Frames from the service</PartTitle>
            <SchemaFields schema={socket.serverFrame} schemas={components.schemas} />
            <PartTitle>Frames from the client</PartTitle>
            <SchemaFields schema={socket.clientFrame} schemas={components.schemas} />
          </>
        )}
        <PartTitle>{isCallback ? "Expected responses" : "Responses"}</PartTitle>
        <ResponseList responses={responses} />
      </div>
      <div className="flex min-w-0 flex-col gap-3 xl:sticky xl:top-16 xl:self-start">
        <Examples {...props} media={media} />
      </div>
    </article>
  );
}

/** Shows an example request, further example bodies, and an example response. */
function Examples(
  props: PlacedOperation & { baseUrl: string; components: Components; media: MediaObject | undefined },
) {
  const { isCallback, operation, media } = props;
  const shown = Object.values(media?.examples ?? {});
  const response = findResponseExample(operation);
  return (
    <>
      {isCallback ? (
        <Example title="Request from the service" text={JSON.stringify(media?.example, null, 2)} />
      ) : (
        <Example title="Request" text={composeExample(props)} />
      )}
      {shown.slice(1).map(({ summary, value }) => (
        <Example
          key={summary}
          title={`Body: ${summary.toLowerCase()}`}
          text={JSON.stringify(value, null, 2)}
          isFolded
        />
      ))}
      {response && (
        <Example title={`Response ${response.status}`} text={JSON.stringify(response.value, null, 2)} />
      )}
    </>
  );
}

/**
 * Finds the example of a successful response. Prefers 201 and 202, because an operation with one of these statuses
 * sends 200 only for a repeated request.
 */
function findResponseExample({ responses }: PlacedOperation["operation"]) {
  for (const status of ["201", "202", "200"]) {
    const response = responses[status];
    const content = response && "content" in response ? response.content : undefined;
    const value = content?.["application/json"]?.example ?? content?.["text/event-stream"]?.example;
    if (value !== undefined) return { status, value };
  }
  return undefined;
}

const CREDENTIALS: Record<string, string> = {
  bearerKey: "an API key",
  shareCookie: "the share cookie",
  shareToken: "the header X-Share-Token",
  loginCookie: "the login cookie",
};

function describeCredential(security: Record<string, string[]>[]): string {
  const names = security.flatMap((requirement) => Object.keys(requirement));
  const ways = names.flatMap((name) => CREDENTIALS[name] ?? []);
  if (ways.length === 0) return "Requires no credential.";
  const scope = security.flatMap((requirement) => Object.values(requirement).flat())[0];
  return `Requires ${ways.join(" or ")}${scope ? ` (API keys: scope ${scope})` : ""}.`;
}
