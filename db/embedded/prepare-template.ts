import { templateAccount } from "./account.ts";
import { findPrograms, makeExecutableForAll } from "./programs.ts";
import { ensureTemplate } from "./template.ts";

// Set-up runs this script, so that the first start need not create the template.
try {
  const programs = await findPrograms();
  await ensureTemplate(templateAccount() ? await makeExecutableForAll(programs) : programs);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
