import type { CompiledVariant } from "./runtime-types.ts";
import { registry } from "./shared-state.ts";
import { startVariant } from "./start-variant.ts";

/** The parameter of the function that the compiler puts around this script. */
declare const variant: CompiledVariant;

// If the script runs again in a document, it updates the running variant.
const running = registry[variant.key];
if (running) running.update(variant);
else registry[variant.key] = startVariant(variant);
