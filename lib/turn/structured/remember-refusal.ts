import { createHash } from "node:crypto";
import type { ModelFailure } from "#lib/model/failure.ts";
import { type SchemaForm, schemaForms } from "#lib/projection/profile/profile.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { readSchema, type SchemaChecker } from "./schema-checker.ts";
import { type FormKey, findForm, storeForm } from "./schema-form-store.ts";

/** Changes when projected schemas change so much that a form which was refused may be accepted. */
const PROJECTION_VERSION = 1;

/** Statuses with which providers refuse a request that they have read. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 422]);
/** Words in the messages of refused schemas. Refusals for other reasons, such as an unpaid bill, are not remembered. */
const ABOUT_SCHEMA =
  /schema|format|grammar|propert|keyword|enum|union|anyof|\$ref|\$defs|recurs|nest|too (?:many|complex|large)|states|regex|pattern|optional|additional/i;

/** Returns the form with which a run begins. Source: decision 141. */
export const chooseForm = (deps: TurnDeps, run: RunInPlay, checker: SchemaChecker): Promise<SchemaForm> =>
  findForm(deps.db, readKey(deps, run, checker));

/**
 * Remembers that the provider has refused a form of the run's schema, so that the next run of any session with the same
 * schema and model begins with the next plainer form. Does nothing for any other failure, and if the plainer forms are
 * the same schema.
 */
export async function rememberRefusal(
  deps: TurnDeps,
  run: RunInPlay,
  checker: SchemaChecker,
  { failure, form }: { failure: ModelFailure; form: SchemaForm },
): Promise<void> {
  if (failure.isRetryable || !REFUSALS.has(failure.statusCode) || !ABOUT_SCHEMA.test(failure.message)) return;
  const next = await findPlainerForm(run, checker, form);
  if (next !== undefined) await storeForm(deps.db, readKey(deps, run, checker), next);
}

async function findPlainerForm(
  run: RunInPlay,
  checker: SchemaChecker,
  form: SchemaForm,
): Promise<Exclude<SchemaForm, "bounds"> | undefined> {
  const read = async (each: SchemaForm) =>
    JSON.stringify((await checker.formatOf(readSchema(run), run.session.ownerId, each)).schema);
  const refused = await read(form);
  for (const next of schemaForms.slice(schemaForms.indexOf(form) + 1))
    if (next !== "bounds" && (await read(next)) !== refused) return next;
  return undefined;
}

function readKey({ model }: TurnDeps, run: RunInPlay, { profile }: SchemaChecker): FormKey {
  const text = `${PROJECTION_VERSION} ${profile} ${JSON.stringify(readSchema(run))}`;
  return { digest: createHash("sha256").update(text).digest("base64"), model: model.id };
}
