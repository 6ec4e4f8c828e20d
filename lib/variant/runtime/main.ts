import type { CompiledVariant } from "./runtime-types.ts";
import { registry } from "./shared-state.ts";
import { startVariant } from "./start-variant.ts";

/** The parameter of the function that the compiler puts around this script. */
declare const variant: CompiledVariant;

// Run again in a document, a script updates the variant that runs there.
const running = registry[variant.key];
if (running) running.update(variant);
else registry[variant.key] = startVariant(variant);
