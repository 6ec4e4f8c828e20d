import type { CDPSession } from "playwright";

const FRAMES_MAX = 60;

/**
 * Finds the object of a `blob:` URL. `lib/injected/object-urls` stores the objects of all such URLs in the handler of a
 * `Proxy`. DevTools can read the handler; the page's own scripts cannot.
 * @returns the stream handle with which DevTools reads the bytes. Undefined if no frame of this DevTools session has
 * the object.
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
      functionDeclaration: "function (url) { return this.objects.get(url); }",
      arguments: [{ value: url }],
    });
    if (found.objectId === undefined) continue;
    const { uuid } = await cdp.send("IO.resolveBlob", { objectId: found.objectId });
    return `blob:${uuid}`;
  }
  return undefined;
}

/** JavaScript that lists the `createObjectURL` functions of a frame and of its descendant frames of the same origin. */
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
