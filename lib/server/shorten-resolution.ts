import { type ResolveFnOutput, registerHooks } from "node:module";

const PACKAGE = "drizzle-orm";

/**
 * Spares Node a detour at every import of drizzle-orm and inside it: to learn where a file is, and that it is a module,
 * it reads and parses the package's whole `package.json` each time, which here is 180 KB, two hundred times over.
 * To be called before the first import of the database; what it answers is what Node finds out, or would have.
 *
 * @returns the way to end it, as every other import pays a little for the hook.
 */
export function shortenResolution(): () => void {
  const entries = new Map<string, ResolveFnOutput>();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions } = context;
      if (specifier === PACKAGE || specifier.startsWith(`${PACKAGE}/`)) {
        const key = [specifier, ...conditions].join(" ");
        const entry = entries.get(key) ?? next(specifier, context);
        entries.set(key, entry);
        return { ...entry, shortCircuit: true };
      }
      const isInside = parentURL?.includes(`/node_modules/${PACKAGE}/`) && parentURL.endsWith(".js");
      if (!isInside || !/^\..*\.js$/.test(specifier)) return next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
    },
  });
  return () => hooks.deregister();
}
