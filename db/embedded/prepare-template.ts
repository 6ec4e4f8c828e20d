import { templateAccount } from "./account.ts";
import { findPrograms, makeExecutableForAll } from "./programs.ts";
import { ensureTemplate, prepareCopy } from "./template.ts";

// Set-up runs this script, so that the first start need not create the template, or copy it.
try {
  const programs = await findPrograms();
  const template = await ensureTemplate(templateAccount() ? await makeExecutableForAll(programs) : programs);
  await prepareCopy(template);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
