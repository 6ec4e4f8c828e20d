import type { CDPSession } from "playwright";
import {
  type BundleName,
  type FunctionName,
  type InjectedFunction,
  installSource,
  loadBundle,
  toSource,
} from "./bundle.ts";

/** An isolated JavaScript world of a document, by DevTools' id. The page's own scripts cannot reach it. */
export type IsolatedWorld = { session: Pick<CDPSession, "send">; contextId: number };

/** An argument of `callWithHandles`: a JSON value, or an object of the page by DevTools' id. */
type CallArgument = { value: unknown } | { objectId: string };

type Evaluation = Awaited<ReturnType<typeof evaluate>>;

/** The error of a function that threw inside the page. Its message is the first line of the thrown error. */
export class InjectedError extends Error {
  override name = "InjectedError";
}

/**
 * Calls a function of a bundle in an isolated world. Arguments and result are JSON values. Only the first call in a world
 * sends the bundle.
 * @param timeoutMs time after which Chromium ends the function. A promise of the function is awaited without a limit.
 * @throws InjectedError if the function throws. Error if the function takes too long, or the world is gone.
 */
export async function callInjected<Name extends BundleName, Key extends FunctionName<Name>>(
  world: IsolatedWorld,
  name: Name,
  fn: Key,
  args: Parameters<InjectedFunction<Name, Key>>,
  timeoutMs?: number,
): Promise<Awaited<ReturnType<InjectedFunction<Name, Key>>>> {
  const key = toSource(loadBundle(name).key);
  const values = args.map(toSource).join();
  const expression = `(() => { const injected = globalThis[Symbol.for(${key})]; if (!injected) throw ${key}; return injected.${fn}(${values}); })()`;
  const { value } = await withBundle(
    name,
    () => evaluate(world, expression, timeoutMs),
    () => evaluate(world, `${installSource(name)}; ${expression}`, timeoutMs),
  );
  // The cast is safe: the value is the function's result.
  return value as Awaited<ReturnType<InjectedFunction<Name, Key>>>;
}

/**
 * Like `callInjected`, for arguments or results that are objects of the page, such as nodes. There is no timeout.
 * @returns DevTools' description of the result.
 */
export function callWithHandles<Name extends BundleName>(
  world: IsolatedWorld,
  name: Name,
  fn: FunctionName<Name>,
  args: CallArgument[],
  options: { returnByValue?: boolean; objectGroup?: string } = {},
): Promise<Evaluation["result"]> {
  const call = () =>
    world.session.send("Runtime.callFunctionOn", {
      functionDeclaration: CALL_BY_NAME,
      arguments: [{ value: loadBundle(name).key }, { value: fn }, ...args],
      executionContextId: world.contextId,
      ...options,
    });
  return withBundle(name, call, async () => {
    readResult(await evaluate(world, `${installSource(name)}; 0`));
    return call();
  });
}

const CALL_BY_NAME = `(key, name, ...args) => {
  const injected = globalThis[Symbol.for(key)];
  if (!injected) throw key;
  return injected[name](...args);
}`;

/** Calls `call`. In a world without the bundle, the call throws the bundle's key; then calls `installAndCall`. */
async function withBundle(
  name: BundleName,
  call: () => Promise<Evaluation>,
  installAndCall: () => Promise<Evaluation>,
): Promise<Evaluation["result"]> {
  const first = await call();
  const isMissing = first.exceptionDetails?.exception?.value === loadBundle(name).key;
  return readResult(isMissing ? await installAndCall() : first);
}

const evaluate = ({ session, contextId }: IsolatedWorld, expression: string, timeoutMs?: number) =>
  session.send("Runtime.evaluate", {
    expression,
    contextId,
    awaitPromise: true,
    returnByValue: true,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });

function readResult({ result, exceptionDetails }: Evaluation): Evaluation["result"] {
  if (!exceptionDetails) return result;
  const { exception, text } = exceptionDetails;
  const description = exception?.description ?? text;
  throw new InjectedError(description.split("\n")[0] ?? description);
}
