const MASK = "***";

/**
 * A URL that is safe to show: the values of its query, its fragment and its credentials are replaced by `***`, because
 * callers put tokens there. The names of parameters stay. Masking a masked URL changes nothing.
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
  // A parameter without a name may be the token itself.
  if (at < 0) return parameter === "" ? "" : MASK;
  return at === parameter.length - 1 ? parameter : `${parameter.slice(0, at)}=${MASK}`;
}
