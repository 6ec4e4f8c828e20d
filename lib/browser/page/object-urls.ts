import type { CDPSession } from "playwright";

const FRAMES_MAX = 60;

/**
 * Finds the object in what {@link keepObjectUrls} kept. Only DevTools sees the handler of a proxy: the page's own scripts
 * cannot reach it.
 * @returns the handle by which DevTools reads its bytes; undefined when no frame of this session holds it.
 */
export async function findBlob(cdp: CDPSession, url: string): Promise<string | undefined> {
  const { result } = await cdp.send("Runtime.evaluate", { expression: LIST_FUNCTIONS });
  const { result: functions } = await cdp.send("Runtime.getProperties", {
    objectId: String(result.objectId),
    ownProperties: true,
  });
  for (const { name, value } of functions.slice(0, FRAMES_MAX)) {
    if (!/^\d+$/.test(name) || value?.objectId === undefined) continue;
    const { internalProperties = [] } = await cdp.send("Runtime.getProperties", { objectId: value.objectId });
    const handler = internalProperties.find((each) => each.name === "[[Handler]]")?.value?.objectId;
    if (handler === undefined) continue;
    const { result: found } = await cdp.send("Runtime.callFunctionOn", {
      objectId: handler,
      functionDeclaration: "function (url) { return this.kept.get(url); }",
      arguments: [{ value: url }],
    });
    if (found.objectId === undefined) continue;
    const { uuid } = await cdp.send("IO.resolveBlob", { objectId: found.objectId });
    return `blob:${uuid}`;
  }
  return undefined;
}

/** The function that makes object URLs, of the frame and of the frames of its origin inside it. */
const LIST_FUNCTIONS = `(() => {
  const found = [];
  const visit = (view) => {
    try {
      found.push(view.URL.createObjectURL);
      for (let index = 0; index < view.length; index += 1) visit(view[index]);
    } catch {}
  };
  visit(self);
  return found;
})()`;

/**
 * Runs inside every page, sent as source: keeps the objects behind object URLs until some seconds after they are revoked.
 * Pages often revoke the address of a download in the same moment. The functions behave as the browser's own.
 */
export function keepObjectUrls(revokedMs: number): void {
  const kept = new Map<string, object>();
  const { createObjectURL, revokeObjectURL } = URL;
  const later = setTimeout;
  URL.createObjectURL = new Proxy(createObjectURL, {
    kept,
    apply(target, self, args: [Blob]) {
      const url = Reflect.apply(target, self, args);
      kept.set(url, args[0]);
      return url;
    },
  } as ProxyHandler<typeof createObjectURL>);
  URL.revokeObjectURL = new Proxy(revokeObjectURL, {
    apply(target, self, args: [string]) {
      later(() => kept.delete(String(args[0])), revokedMs);
      return Reflect.apply(target, self, args);
    },
  });
}
