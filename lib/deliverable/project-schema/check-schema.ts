import { briefText, isJsonEqual } from "#lib/projection/json.ts";
import { type Breach, checkProfile } from "#lib/projection/profile/check-profile.ts";
import type { Profile } from "#lib/projection/profile/profile.ts";
import { type Projection, projectSchema } from "#lib/projection/project-schema.ts";
import type { SchemaObject } from "#lib/projection/schema/walk-schema.ts";
import type { SchemaChecker } from "../admission/create-schema-checker.ts";
import type { Input } from "./read-inputs.ts";

/**
 * The outcome of projecting a value and converting it back. `undeclared`: the value has no projected form, because
 * objects in it have properties that their schemas do not mention. `skipped-invalid`: the value is not valid against the
 * schema, or its validity could not be checked.
 */
type RoundTrip =
  | { outcome: "exact" }
  | { outcome: "undeclared"; detail: string }
  | { outcome: "different"; detail: string }
  | { outcome: "skipped-invalid"; detail: string };

/**
 * The report on one schema. `error` is the error of the API's 400 response, or says that the input is not JSON. If
 * `failed` is set, the check itself failed, and `error` is the reason.
 */
export type Report =
  | { source: string; admitted: false; error: string; failed?: true }
  | {
      source: string;
      admitted: true;
      /** Whether the schema fits every provider that was asked for. */
      fits: boolean;
      providers: readonly Fit[];
      projectionMs: number;
      roundTrips: readonly RoundTrip[];
      /** The projection for the first provider. */
      projection: Projection;
    };

/**
 * How a schema fits one provider. `overhead`: the length of the projected schema in characters, divided by that of the
 * caller's. `words`: how many constraints became sentences. `texts`: how many parts are sent as JSON text.
 */
export type Fit = {
  provider: string;
  fits: boolean;
  breach: Breach | undefined;
  overhead: number;
  words: number;
  texts: number;
};

/**
 * Admits a schema as the API does, projects it (converts it for a provider), and checks the round trip of each value.
 * Never throws.
 */
export async function checkSchema(
  checker: SchemaChecker,
  profiles: readonly [Profile, ...Profile[]],
  input: Input,
): Promise<Report> {
  try {
    return await check(checker, profiles, input);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { source: input.source, admitted: false, error: `failed: ${message}`, failed: true };
  }
}

async function check(
  checker: SchemaChecker,
  profiles: readonly [Profile, ...Profile[]],
  input: Input,
): Promise<Report> {
  const { source } = input;
  if ("unreadable" in input) return { source, admitted: false, error: `not JSON: ${input.unreadable}` };
  const verdict = await checker.admitSchema(input.schema);
  if (!verdict.ok) return { source, admitted: false, error: verdict.error };
  const startedAt = performance.now();
  // The cast is safe: only objects are admitted.
  const schema = input.schema as SchemaObject;
  const projections = profiles.map((profile) => ({ profile, projection: projectSchema(schema, profile) }));
  const projectionMs = (performance.now() - startedAt) / profiles.length;
  const providers = projections.map(({ profile, projection }) => readFit(profile, projection, schema));
  const roundTrips: RoundTrip[] = [];
  for (const value of input.values ?? [])
    for (const { projection } of projections)
      roundTrips.push(await checkRoundTrip(checker, projection, input.schema, value));
  const projection = projectSchema(schema, profiles[0]);
  return {
    source,
    admitted: true,
    fits: providers.every(({ fits }) => fits),
    providers,
    projectionMs,
    roundTrips,
    projection,
  };
}

function readFit(profile: Profile, { schema, folded }: Projection, own: SchemaObject): Fit {
  const breach = checkProfile(schema, profile);
  const text = JSON.stringify(schema);
  return {
    provider: profile.name,
    fits: breach === undefined,
    breach,
    overhead: Math.round((100 * text.length) / JSON.stringify(own).length) / 100,
    words: folded.length,
    texts: text.match(/"description":"(?:[^"\\]|\\.)*?JSON text(?:\.| of )/g)?.length ?? 0,
  };
}

async function checkRoundTrip(
  checker: SchemaChecker,
  { project, foldBack }: Projection,
  schema: unknown,
  value: unknown,
): Promise<RoundTrip> {
  const verdict = await checker.validateValue(schema, value);
  if (!verdict.valid) {
    const detail = "error" in verdict ? verdict.error : formatViolation(verdict.violations[0]);
    return { outcome: "skipped-invalid", detail };
  }
  const sent = project(value);
  if (!sent.ok) {
    const names = [...new Set(sent.undeclared.flatMap((each) => each.names))];
    if (names.length > 0) return { outcome: "undeclared", detail: `no place for ${briefText(names, 200)}` };
    return { outcome: "different", detail: "has no projected form" };
  }
  const back = foldBack(JSON.parse(JSON.stringify(sent.value)));
  if (!back.ok) return { outcome: "different", detail: formatViolation(back) };
  return isJsonEqual(back.value, value)
    ? { outcome: "exact" }
    : { outcome: "different", detail: `came back as ${JSON.stringify(back.value).slice(0, 300)}` };
}

const formatViolation = (violation: { path: string; message: string } | undefined): string =>
  violation ? `${violation.path || "/"} ${violation.message}` : "";

/**
 * Whether the report shows no problem of the projection. A refused schema is no such problem, but a failed check is
 * one.
 */
export const passes = (report: Report): boolean =>
  report.admitted
    ? report.fits && report.roundTrips.every(({ outcome }) => outcome !== "different")
    : report.failed !== true;
