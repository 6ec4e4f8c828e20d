/** Removes the query and the fragment of an address. An address that is not http(s) becomes empty. */
export function withoutQuery(address: string): string {
  const url = URL.parse(address);
  return url && /^https?:$/.test(url.protocol) ? `${url.origin}${url.pathname}` : "";
}
