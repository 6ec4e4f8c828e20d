import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const setupResult = z.object({
  chromium: z
    .object({
      /** Absolute. */
      executablePath: z.string(),
      source: z.enum(["environment", "playwright", "system", "package"]),
      version: z.string().optional(),
      /** Flags that this build needs to start on this machine. */
      args: z.array(z.string()).optional(),
      /** Variables that this build needs to start on this machine, such as LD_LIBRARY_PATH. */
      env: z.record(z.string(), z.string()).optional(),
    })
    .nullable(),
});

type SetupResult = z.infer<typeof setupResult>;

/**
 * Reads what set-up found on this machine (`setup.json` in the data folder, which `ensure-browser.mjs` writes).
 * Without that file, or with one that cannot be understood, nothing was found: the next set-up writes it anew.
 */
export function readSetup(dataDir: string): SetupResult {
  try {
    return setupResult.parse(JSON.parse(readFileSync(join(dataDir, "setup.json"), "utf8")));
  } catch {
    return { chromium: null };
  }
}
