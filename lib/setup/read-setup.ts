import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const setupResult = z.object({
  chromium: z
    .object({
      /** The absolute path of the executable. */
      executablePath: z.string(),
      source: z.enum(["environment", "playwright", "system", "package"]),
      version: z.string().optional(),
      /** Flags that Chromium needs to start on this machine. */
      args: z.array(z.string()).optional(),
      /** Environment variables that Chromium needs to start on this machine, such as LD_LIBRARY_PATH. */
      env: z.record(z.string(), z.string()).optional(),
    })
    .nullable(),
});

type SetupResult = z.infer<typeof setupResult>;

/**
 * Reads the result of the setup on this machine from `setup.json` in the data folder. If the file is missing or
 * invalid, returns `chromium: null`. The next setup writes the file again.
 */
export function readSetup(dataDir: string): SetupResult {
  try {
    return setupResult.parse(JSON.parse(readFileSync(join(dataDir, "setup.json"), "utf8")));
  } catch {
    return { chromium: null };
  }
}
