import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type manifest from "./bundles.json";

type ByName<Modules extends Record<keyof typeof manifest, object>> = Modules;

/** The exports of each bundle, which the service calls by name. */
type Bundles = ByName<{
  tools: typeof import("./tools/main.ts");
  engines: typeof import("./engines/main.ts");
  accessibility: typeof import("./accessibility/main.ts");
  check: typeof import("./check/main.ts");
  clicks: typeof import("./clicks/main.ts");
  overlay: typeof import("./overlay/main.ts");
  clipboard: typeof import("./clipboard/main.ts");
  "object-urls": typeof import("./object-urls/main.ts");
  "site-data": typeof import("./site-data/main.ts");
  tag: typeof import("./tag/main.ts");
  widgets: typeof import("./widgets/main.ts");
}>;

export type BundleName = keyof Bundles;
/** The names of the functions that a bundle exports. */
export type FunctionName<Name extends BundleName> = {
  [Key in keyof Bundles[Name]]: Bundles[Name][Key] extends (...args: never[]) => unknown ? Key : never;
}[keyof Bundles[Name]] &
  string;
/** The function that a bundle exports with this name. */
export type InjectedFunction<
  Name extends BundleName,
  Key extends FunctionName<Name>,
> = Bundles[Name][Key] extends (...args: infer Args) => infer Result ? (...args: Args) => Result : never;

type Bundle = {
  /** JavaScript statements that declare the variable `injected`. */
  code: string;
  /**
   * Description of the symbol under which a world has the bundle. It contains a hash of the code, so a world never runs
   * the code of another release.
   */
  key: string;
};

const FOLDER = join(import.meta.dirname, "../../.injected");
const loaded = new Map<BundleName, Bundle>();

/**
 * Loads a bundle that the setup has built.
 * @throws Error if the setup did not run.
 */
export function loadBundle(name: BundleName): Bundle {
  const cached = loaded.get(name);
  if (cached) return cached;
  const code = readFileSync(join(FOLDER, `${name}.js`), "utf8");
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 16);
  const bundle = { code, key: `agent-session-${name}-${hash}` };
  loaded.set(name, bundle);
  return bundle;
}

/** Returns the source of an expression for the object with the exports of a bundle. */
const moduleSource = (name: BundleName): string => `(() => {${loadBundle(name).code}return injected})()`;

/**
 * Returns the source of an expression that installs a bundle in a JavaScript world, unless the world has it already. Use
 * it in isolated worlds only: in its own world, a page could find the bundle.
 */
export function installSource(name: BundleName): string {
  const { key } = loadBundle(name);
  // The key is a symbol, because the id of an element can be the name of a global variable.
  return `globalThis[Symbol.for(${JSON.stringify(key)})] ??= ${moduleSource(name)}`;
}

/** Returns the source of an expression that installs a bundle in an isolated world and calls a function of it. */
export const startSource = <Name extends BundleName, Key extends FunctionName<Name>>(
  name: Name,
  fn: Key,
  args: Parameters<InjectedFunction<Name, Key>>,
): string => `(${installSource(name)}).${fn}(${args.map(toSource).join()})`;

/** Returns the source of a function of a bundle. It leaves nothing else in the JavaScript world. */
export const functionSource = <Name extends BundleName>(name: Name, fn: FunctionName<Name>): string =>
  `(...args) => ${moduleSource(name)}.${fn}(...args)`;

/** Returns the source of an expression that calls a function of a bundle, and leaves nothing else in the world. */
export const onceSource = <Name extends BundleName, Key extends FunctionName<Name>>(
  name: Name,
  fn: Key,
  args: Parameters<InjectedFunction<Name, Key>>,
): string => `(${functionSource(name, fn)})(${args.map(toSource).join()})`;

/** Writes a JSON value as a JavaScript expression. */
export const toSource = (value: unknown): string => JSON.stringify(value) ?? "undefined";
