import { isSameService } from "./same-origin.ts";

/**
 * Which other origins may call a path. `any` and `public` allow every origin, but without credentials. `first-party`
 * allows the origins in `FIRST_PARTY_ORIGINS`. `none` allows no other origin. With `public`, the response does not
 * depend on the origin, so shared caches can store the response.
 */
export type CrossOriginRule = "any" | "public" | "first-party" | "none";

/**
 * The header of responses that pages of any origin may load. By default, this header has the value `same-origin`, with
 * which only the service's own pages may load a response.
 */
const EMBEDDABLE = { "Cross-Origin-Resource-Policy": "cross-origin" };

type CrossOriginVerdict =
  | { kind: "answered"; response: Response }
  | { kind: "refused" }
  | { kind: "allowed"; headers: Record<string, string> };

/**
 * Applies a rule to a request. Under `any` and `first-party`, answers preflights and refuses origins that the rule does
 * not allow. In all other cases, returns the headers for the response. Source: specification, Authentication, rules 4
 * and 7; `security.md`, Cross-origin.
 */
export function allowCrossOrigin(
  rule: CrossOriginRule,
  request: Request,
  firstPartyOrigins: readonly string[],
  baseUrl: string,
  methods: string[],
): CrossOriginVerdict {
  const origin = request.headers.get("origin");
  if (rule === "none") return { kind: "allowed", headers: {} };
  if (rule === "public")
    return { kind: "allowed", headers: { ...EMBEDDABLE, "Access-Control-Allow-Origin": "*" } };
  const isAllowed =
    rule === "any" || origin === null || isSameService(origin, baseUrl) || firstPartyOrigins.includes(origin);
  const vary = { Vary: "Origin" };
  if (!isAllowed) return { kind: "refused" };
  const headers = {
    ...(rule === "any" && EMBEDDABLE),
    ...vary,
    ...(origin !== null && { "Access-Control-Allow-Origin": origin }),
  };
  if (request.method !== "OPTIONS") return { kind: "allowed", headers };
  const preflight = {
    ...headers,
    "Access-Control-Allow-Methods": [...methods, "OPTIONS"].join(", "),
    "Access-Control-Allow-Headers":
      rule === "any" ? "content-type" : "content-type, authorization, x-service-api-key",
  };
  return { kind: "answered", response: new Response(null, { status: 204, headers: preflight }) };
}
