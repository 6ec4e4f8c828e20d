import { contract, type OperationName } from "../contract/contract.ts";
import { handlers } from "../handlers/handlers.ts";
import type { ApiServices } from "../handlers/services.ts";
import { allowCrossOrigin, type CrossOriginRule } from "../http/cross-origin.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { serveOperation } from "./serve-operation.ts";

/** The operations at one path, by method. */
export type PathOperations = Partial<Record<string, OperationName>>;

/** The rule for calls from other origins, by path. A path without an entry has the rule `none`. */
const SPECIAL: Record<string, CrossOriginRule> = {
  "/api/sessions/:sessionId/annotations/webhook": "any",
  "/api/sessions/:sessionId/browser": "first-party",
  "/v/:script": "public",
};

/**
 * Serves a request with any method to a path of the contract.
 *
 * @param operations the operations at that path, by method.
 */
export async function servePath(
  services: ApiServices,
  operations: PathOperations,
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  const path = contract[Object.values(operations)[0] ?? "readHealth"].path;
  const rule = SPECIAL[path] ?? "none";
  const cors = allowCrossOrigin(
    rule,
    request,
    services.settings.firstPartyOrigins,
    services.settings.baseUrl,
    Object.keys(operations),
  );
  if (cors.kind === "answered") return cors.response;
  if (cors.kind === "refused")
    return failureResponse(fail("forbidden", "Origin: is not one of FIRST_PARTY_ORIGINS"));

  const name = operations[request.method === "HEAD" ? "GET" : request.method];
  const response = name
    ? await serveNamed(services, name, request, params)
    : answerOtherMethod(request.method, rule, Object.keys(operations));
  for (const [header, value] of Object.entries(cors.headers)) response.headers.set(header, value);
  // Unless the handler decides otherwise, no cache may store the response, because it may contain private data.
  if (!response.headers.has("cache-control")) response.headers.set("Cache-Control", "no-store");
  return response;
}

const serveNamed = <Name extends OperationName>(
  services: ApiServices,
  name: Name,
  request: Request,
  params: Record<string, string>,
) => serveOperation(services, contract[name], handlers[name], request, params);

/**
 * Answers a method that has no operation at this path. OPTIONS lists the allowed methods; any other method is refused.
 */
function answerOtherMethod(method: string, rule: CrossOriginRule, methods: string[]): Response {
  const allow = {
    Allow: methods
      .flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]))
      .concat("OPTIONS")
      .join(", "),
  };
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: allow });
  if (rule === "any") return Response.json({ error: "method not allowed" }, { status: 405, headers: allow });
  return failureResponse(fail("method_not_allowed", `method: must be ${methods.join(" or ")}`, allow));
}
