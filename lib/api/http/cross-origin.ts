import { isSameService } from "./same-origin.ts";

/**
 * Who may call from another origin: anybody (without credentials), the deployment's first parties, or nobody. Under
 * `public`, the answer does not depend on the origin, and shared caches can store it.
 */
export type CrossOriginRule = "any" | "public" | "first-party" | "none";

/** For answers that any page may load; every other one is for our own pages. */
const EMBEDDABLE = { "Cross-Origin-Resource-Policy": "cross-origin" };

type CrossOriginVerdict =
  | { kind: "answered"; response: Response }
  | { kind: "refused" }
  | { kind: "allowed"; headers: Record<string, string> };

/**
 * Answers preflights, and says which headers an answer carries.
 * Source: specification, Authentication, rules 4 and 7; `security.md`, Cross-origin.
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
  const isKnown =
    rule === "any" || origin === null || isSameService(origin, baseUrl) || firstPartyOrigins.includes(origin);
  const vary = { Vary: "Origin" };
  if (!isKnown) return { kind: "refused" };
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
