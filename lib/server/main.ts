import { EXIT_CODES } from "#lib/setup/exit-codes.mjs";
import { shortenResolution } from "#lib/setup/shorten-resolution.ts";

// A plain object, because each access to the original reads the C environment, and the Inngest SDK reads all variables
// several times in each call of a function (0.3 ms).
process.env = { ...process.env };

// These imports are dynamic, because static imports would be resolved before the hook is registered.
const stopShortening = shortenResolution();
const [{ startService }, { EnvError }] = [await import("./start-service.ts"), await import("./env.ts")];

startService({ onAnswering: stopShortening }).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const isAddressTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  const hint = isAddressTaken ? "; set PORT to another one, or stop what uses it" : "";
  process.stderr.write(`\nThe service could not start. ${message}${hint}\n`);
  if (!(error instanceof EnvError) && process.env.LOG_LEVEL === "debug")
    process.stderr.write(`${error instanceof Error ? error.stack : ""}\n`);
  process.exit(error instanceof EnvError ? EXIT_CODES.wrongSetting : EXIT_CODES.failed);
});
