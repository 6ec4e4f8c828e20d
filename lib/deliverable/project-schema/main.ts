import { parseArgs } from "node:util";
import { type Profile, profiles } from "#lib/projection/profile/profile.ts";
import { createSchemaChecker } from "../admission/create-schema-checker.ts";
import { checkSchema, type Fit, passes, type Report } from "./check-schema.ts";
import { type Input, readInputs } from "./read-inputs.ts";
import { toJsonLine, toLine, toPage } from "./write-report.ts";

const help = `Shows the projection of an outputSchema for each provider, and whether values survive it unchanged.

  npm run project-schema -- <file.json | file.jsonl | folder> … [--provider openai|anthropic|gemini|none]
    [--definitions] [--json]

  file.json    a JSON Schema, or { "schema": …, "values": […] }
  file.jsonl   one of these on each line (also .ndjson)
  folder       every .json file below it

Prints, for one schema: the projection, the constraints that became sentences, and an example round trip, for OpenAI or
the provider; and for each provider the fit, the length compared with the schema, and what is left to words.
Values are converted there and back for each provider.
For several schemas: one line for each, and a summary with the median and the 90th percentile of the length.

  --provider      only this provider
  --definitions   each definition that is an object schema is checked as a schema of its own, too
  --json          one line with a JSON object for each schema, including the projection
  --help          this text

Exit code: 0 if all admitted schemas fit and all valid values survive unchanged, apart from values with properties
that the schemas do not declare; 1 if not, or if a single schema is refused; 2 if the arguments are invalid or there
is no schema.
`;

/** Runs the command. @returns the exit code */
async function main(): Promise<number> {
  const parsed = readArguments();
  if (typeof parsed === "number") return parsed;
  const { paths, chosen, isJson, hasDefinitions } = parsed;
  const checker = createSchemaChecker();
  const outcomes = { exact: 0, different: 0, undeclared: 0, "skipped-invalid": 0 };
  const totals = { schemas: 0, admitted: 0, fit: 0, wrong: 0, ...outcomes };
  const fits: Fit[] = [];
  const count = (report: Report) => {
    totals.schemas += 1;
    if (!passes(report)) totals.wrong += 1;
    if (!report.admitted) return;
    totals.admitted += 1;
    if (report.fits) totals.fit += 1;
    fits.push(...report.providers);
    for (const { outcome } of report.roundTrips) totals[outcome] += 1;
  };
  const say = (text: string) => process.stdout.write(`${text}\n`);
  let first: { input: Input; report: Report } | undefined;
  try {
    for await (const input of readInputs(paths, hasDefinitions)) {
      const report = await checkSchema(checker, chosen, input);
      count(report);
      if (isJson) say(toJsonLine(report));
      // Keeps the first report until it is known whether more schemas follow: a single schema gets a page, and each of
      // several schemas gets a line.
      else if (totals.schemas === 1) first = { input, report };
      else {
        if (totals.schemas === 2 && first) say(toLine(first.report));
        say(toLine(report));
      }
    }
    if (first && totals.schemas === 1 && "schema" in first.input)
      say(await toPage(first.report, checker, first.input.schema));
    else if (first && totals.schemas === 1) say(toLine(first.report));
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  } finally {
    await checker.close();
  }
  if (totals.schemas === 0) {
    process.stderr.write("The files contain no schema.\n");
    return 2;
  }
  if (totals.schemas > 1)
    process.stderr.write(`${[summarize(totals), ...summarizeProviders(fits)].join("\n")}\n`);
  // Among several schemas, a refused one is only counted. If the only schema is refused, the command fails.
  const isRefused = totals.schemas === 1 && totals.admitted === 0;
  return totals.wrong > 0 || isRefused ? 1 : 0;
}

function summarize(totals: Record<string, number>): string {
  const { schemas, admitted, fit, exact = 0, different = 0, undeclared = 0 } = totals;
  const values =
    exact + different === 0 ? "" : ` ${exact} of ${exact + different} valid values came back exactly.`;
  const others = undeclared === 0 ? "" : ` ${undeclared} values have undeclared properties.`;
  return `${schemas} schemas: ${admitted} admitted, ${fit} of these fit.${values}${others}`;
}

function summarizeProviders(all: readonly Fit[]): string[] {
  const names = [...new Set(all.map(({ provider }) => provider))];
  return names.map((name) => {
    const fits = all.filter(({ provider }) => provider === name);
    const sizes = fits.map(({ overhead }) => overhead).sort((one, other) => one - other);
    const at = (share: number) => sizes[Math.min(sizes.length - 1, Math.floor(share * sizes.length))];
    const sum = (read: (fit: Fit) => number) => fits.reduce((total, fit) => total + read(fit), 0);
    return (
      `${name}: ${sum((fit) => Number(fit.fits))} of ${fits.length} fit, length ${at(0.5)} × in the median and ` +
      `${at(0.9)} × at the 90th percentile, ${sum(({ words }) => words)} constraints in words, ` +
      `${sum(({ texts }) => texts)} parts as JSON text.`
    );
  });
}

type Profiles = readonly [Profile, ...Profile[]];
const STRICT: Profiles = [profiles.openai, profiles.anthropic, profiles.gemini];

type Arguments = { paths: string[]; chosen: Profiles; isJson: boolean; hasDefinitions: boolean };

function readArguments(): Arguments | number {
  const refuse = (message: string) => {
    process.stderr.write(`${message}\n\n${help}`);
    return 2;
  };
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        provider: { type: "string" },
        definitions: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(help);
      return 0;
    }
    const profile = Object.values<Profile>(profiles).find(({ name }) => name === values.provider);
    if (values.provider !== undefined && !profile)
      return refuse(`--provider: must be one of ${Object.keys(profiles).join(", ")}.`);
    if (positionals.length === 0) return refuse("No file is named.");
    const chosen: Profiles = profile ? [profile] : STRICT;
    return { paths: positionals, chosen, isJson: values.json, hasDefinitions: values.definitions };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

process.exitCode = await main();
