import type { MediaObject, OpenApiDocument, ParameterObject } from "#lib/api/openapi/types.ts";
import type { PlacedOperation } from "./list-groups.ts";

type Called = PlacedOperation & { baseUrl: string; components: OpenApiDocument["components"] };

/**
 * Composes an example request: a curl command, or Node code for a WebSocket. The example reads the API key or the
 * cookie from the environment.
 */
export function composeExample({ method, path, baseUrl, operation, components }: Called): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(components.parameters[name]?.example ?? name),
  );
  if (operation["x-websocket"])
    return `const headers = { authorization: \`Bearer \${process.env.API_KEY}\` };\nconst address = "${baseUrl.replace(/^http/, "ws")}${filled}?after=0";\nconst socket = new WebSocket(address, { headers });\nsocket.onmessage = ({ data }) => console.log(data);`;
  const required = (operation.parameters ?? []).filter(
    (parameter): parameter is ParameterObject =>
      "in" in parameter && parameter.in === "query" && parameter.required === true,
  );
  const query = required
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join("&");
  const names = (operation.security ?? []).flatMap((requirement) => Object.keys(requirement));
  const body = findBody(Object.values(operation.requestBody?.content ?? {})[0]);
  const takesBytes = "application/octet-stream" in (operation.requestBody?.content ?? {});
  const isStream =
    "200" in operation.responses && JSON.stringify(operation.responses["200"]).includes("event-stream");
  const lines = [
    `curl -s${isStream ? "N" : ""}${method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`} "${baseUrl}${filled}${query && `?${query}`}"`,
    ...(names.includes("bearerKey") ? [`-H "Authorization: Bearer $API_KEY"`] : []),
    ...(names.includes("bearerKey") || names.length === 0
      ? []
      : [`-H "Cookie: $COOKIE" -H "Origin: ${baseUrl}"`]),
    ...(takesBytes ? ["--data-binary @file"] : []),
    ...(body === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
        ]),
  ];
  return lines.join(" \\\n  ");
}

function findBody(media: MediaObject | undefined): unknown {
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
}
