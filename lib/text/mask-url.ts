const MASK = "***";

/**
 * Makes a URL safe to show: replaces the values of query parameters, the fragment and the credentials with `***`,
 * because these parts may contain tokens. The name of a parameter stays if `=` follows it. Masking a masked URL again
 * changes nothing.
 */
export function maskUrl(text: string): string {
  const [, base = text, query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  const shownBase = base.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, `$1${MASK}@`);
  const shownQuery = query === undefined ? "" : `?${query.split("&").map(maskParameter).join("&")}`;
  const shownFragment = fragment === undefined ? "" : `#${fragment === "" ? "" : MASK}`;
  return `${shownBase}${shownQuery}${shownFragment}`;
}

function maskParameter(parameter: string): string {
  const at = parameter.indexOf("=");
  // A parameter without `=` may itself be a token.
  if (at < 0) return parameter === "" ? "" : MASK;
  return at === parameter.length - 1 ? parameter : `${parameter.slice(0, at)}=${MASK}`;
}
