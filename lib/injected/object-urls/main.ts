/** Runs in the pages' own JavaScript world, at the start of each document. */

/**
 * Keeps the object of each `blob:` URL until `revokedMs` after the page has revoked the URL, because pages often revoke
 * the URL of a download immediately. Replaces two functions of `URL` by proxies that behave the same for the page.
 */
export function delayUrlRevocation(revokedMs: number): void {
  const objects = new Map<string, object>();
  const { createObjectURL, revokeObjectURL } = URL;
  const later = setTimeout;
  URL.createObjectURL = new Proxy(createObjectURL, {
    objects,
    apply(target, self, args: [Blob]) {
      const url = Reflect.apply(target, self, args);
      objects.set(url, args[0]);
      return url;
    },
  } as ProxyHandler<typeof createObjectURL>);
  URL.revokeObjectURL = new Proxy(revokeObjectURL, {
    apply(target, self, args: [string]) {
      later(() => objects.delete(String(args[0])), revokedMs);
      return Reflect.apply(target, self, args);
    },
  });
}
