import type { CompiledVariant } from "./runtime-types.ts";
import { registry } from "./shared-state.ts";
import { startVariant } from "./start-variant.ts";

/** The compiled variant. The compiler wraps this script in a function with this parameter. */
declare const variant: CompiledVariant;

// If this variant already runs in the document, the script updates it.
const running = registry[variant.key];
if (running) running.update(variant);
else registry[variant.key] = startVariant(variant);
