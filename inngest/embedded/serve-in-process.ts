import { type Inngest, InngestCommHandler, type InngestFunction } from "inngest";

/** What the SDK is asked: to register its functions, or to play one. The body is a value that is its own from then on. */
type FunctionCall =
  | { method: "PUT" }
  | { method: "POST"; functionId: string; stepId: string; body: Record<string, unknown> };

/** What the SDK answers: `body` is JSON text, headers have lower-case names as far as this engine reads them. */
type FunctionAnswer = { status: number; headers: Record<string, string>; body: string };

/** The SDK's request handler, called in process. */
export type FunctionHandler = (call: FunctionCall) => Promise<FunctionAnswer>;

const ADDRESS = new URL("http://inngest.embedded/api/inngest");

/**
 * The SDK's handler for the functions, in the way it offers for hosts of any kind: as there is no network, nothing is
 * wrapped into requests, streams and texts on the way in, nor into a response on the way out.
 */
export function serveInProcess(served: {
  client: Inngest.Any;
  functions: InngestFunction.Any[];
}): FunctionHandler {
  const handler = new InngestCommHandler({
    ...served,
    frameworkName: "embedded",
    handler: (call: FunctionCall) => ({
      method: () => call.method,
      url: () => ADDRESS,
      headers: () => null,
      body: () => (call.method === "POST" ? call.body : ""),
      queryString: (key) => {
        if (call.method !== "POST") return null;
        return key === "fnId" ? call.functionId : key === "stepId" ? call.stepId : null;
      },
      transformResponse: ({ status, headers, body }): FunctionAnswer => ({ status, headers, body }),
    }),
  });
  return handler.createHandler();
}
