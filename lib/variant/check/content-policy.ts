import type { Response } from "playwright";

/**
 * The name of a directive that blocks the published script. `advice` says how the page's Content-Security-Policy can
 * allow the script.
 */
type BlockingPolicy = { directive: string; advice: string };

type Directives = Map<string, string[]>;

/**
 * Directives that control external scripts, in order of precedence. If a policy has several of these directives, only
 * the one that comes first in this list applies. Source: W3C, Content Security Policy Level 3.
 */
const SCRIPT_DIRECTIVES = ["script-src-elem", "script-src", "default-src"];
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Splits a header value into its policies. A script runs only if all policies allow it. */
export const splitPolicies = (headerValue: string): string[] =>
  headerValue.split(",").filter((policy) => policy.trim() !== "");

/** Reads the enforced policies from the headers of a response. */
export async function readPolicies(response: Response | null): Promise<string[]> {
  const headers = (await response?.headersArray()) ?? [];
  return headers
    .filter(({ name }) => name.toLowerCase() === "content-security-policy")
    .flatMap(({ value }) => splitPolicies(value));
}

/**
 * Finds the policies of a page that block the published script. The tag of the script has no nonce.
 *
 * @param policies the enforced policies from headers and `meta` elements, one policy per string.
 */
export function findBlockingPolicies(policies: string[], page: URL, script: URL): BlockingPolicy[] {
  return policies.flatMap((policy) => {
    const blocking = findBlockedBy(parseDirectives(policy), page, script);
    return blocking === undefined ? [] : [blocking];
  });
}

/**
 * Whether one of the policies forbids every script, also those of the page.
 *
 * @param policies the enforced policies from headers. Browsers ignore the directive in `meta` elements.
 */
export const forbidsScripts = (policies: string[]): boolean =>
  policies.some((policy) => {
    const sandbox = parseDirectives(policy).get("sandbox");
    return sandbox !== undefined && !sandbox.some((token) => token.toLowerCase() === "allow-scripts");
  });

function findBlockedBy(directives: Directives, page: URL, script: URL): BlockingPolicy | undefined {
  const name = SCRIPT_DIRECTIVES.find((each) => directives.has(each));
  if (name === undefined) return undefined;
  const sources = directives.get(name) ?? [];
  const isStrict = sources.some((source) => source.toLowerCase() === "'strict-dynamic'");
  if (isStrict) {
    const advice = `${name} has 'strict-dynamic', which ignores origins: put the page's nonce on the script tag, or load the script from a script that the policy trusts`;
    return { directive: name, advice };
  }
  if (sources.some((source) => isMatch(source, page, script))) return undefined;
  const otherSources = sources.filter((source) => source.toLowerCase() !== "'none'");
  const advice =
    name === "default-src"
      ? `add the directive script-src ${[...otherSources, script.origin].join(" ")}`
      : `add ${script.origin} to ${name}`;
  return { directive: name, advice };
}

/** Parses the directives of a policy. If a directive occurs more than once, only the first occurrence counts. */
function parseDirectives(policy: string): Directives {
  const directives: Directives = new Map();
  for (const part of policy.split(";")) {
    const [name = "", ...values] = part.trim().split(/\s+/);
    const key = name.toLowerCase();
    if (key !== "" && !directives.has(key)) directives.set(key, values);
  }
  return directives;
}

/**
 * Whether a source expression of a policy allows the script. Nonces and hashes never match, because the tag of the
 * published script has neither.
 */
function isMatch(source: string, page: URL, script: URL): boolean {
  const text = source.toLowerCase();
  if (text === "*") return script.protocol in DEFAULT_PORTS || script.protocol === page.protocol;
  if (text === "'self'")
    return (
      script.hostname === page.hostname && isSchemeMatch(page.protocol, script) && isSamePort(page, script)
    );
  if (text.startsWith("'")) return false;
  if (/^[a-z][a-z0-9+.-]*:$/.test(text)) return isSchemeMatch(text, script);
  return isHostMatch(source, page, script);
}

const HOST_SOURCE =
  /^(?:([a-z][a-z0-9+.-]*:)\/\/)?(\*|(?:\*\.)?[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(\d+|\*))?(\/[^?#]*)?$/i;

function isHostMatch(source: string, page: URL, script: URL): boolean {
  const [, scheme = page.protocol, host = "", port, path = ""] = HOST_SOURCE.exec(source) ?? [];
  if (host === "" || !isSchemeMatch(scheme.toLowerCase(), script)) return false;
  const name = host.toLowerCase();
  const isHost =
    name === "*" ||
    (name.startsWith("*.") ? script.hostname.endsWith(name.slice(1)) : script.hostname === name);
  return isHost && isPortMatch(port, script) && isPathMatch(path, script);
}

/** A policy that allows a host over http also allows it over https. */
const isSchemeMatch = (allowed: string, { protocol }: URL): boolean =>
  protocol === allowed || (allowed === "http:" && protocol === "https:");

const portOf = ({ port, protocol }: URL): string => port || (DEFAULT_PORTS[protocol] ?? "");

function isPortMatch(allowed: string | undefined, script: URL): boolean {
  const port = portOf(script);
  if (allowed === undefined) return port === DEFAULT_PORTS[script.protocol];
  return (
    allowed === "*" ||
    allowed === port ||
    (allowed === "80" && port === "443" && script.protocol === "https:")
  );
}

const isSamePort = (page: URL, script: URL): boolean =>
  portOf(page) === portOf(script) || (portOf(page) === "80" && portOf(script) === "443");

function isPathMatch(allowed: string, { pathname }: URL): boolean {
  if (allowed === "" || allowed === "/") return true;
  return allowed.endsWith("/") ? pathname.startsWith(allowed) : pathname === allowed;
}
