import { type Inngest, InngestCommHandler, type InngestFunction } from "inngest";

/** A call of the SDK's handler: `PUT` registers the functions, `POST` runs one of them. The SDK may change the body. */
type FunctionCall =
  | { method: "PUT" }
  | { method: "POST"; functionId: string; stepId: string; body: Record<string, unknown> };

/** The SDK's answer. `body` is JSON text; the headers that this engine reads have lower-case names. */
type FunctionAnswer = { status: number; headers: Record<string, string>; body: string };

/** The SDK's request handler, called in process. */
export type FunctionHandler = (call: FunctionCall) => Promise<FunctionAnswer>;

const ADDRESS = new URL("http://inngest.embedded/api/inngest");

/**
 * Creates the SDK's handler for the functions, without a network: calls and answers are plain values instead of
 * requests and responses.
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
