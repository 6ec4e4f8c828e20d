import { and, eq, lt, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { schemaForms } from "#db/schema/index.ts";
import { schemaForms as FORMS, type SchemaForm } from "#lib/projection/profile/profile.ts";

/** What a form is remembered for: the schema, as a digest, and the id of the model. */
export type FormKey = { digest: string; model: string };

/** Forms that were not used for so long are forgotten: providers change what they accept. */
const DAYS_MAX = 30;
const ROWS_MAX = 10_000;
/** A use is recorded at most once in this time, so that usual turns write nothing. */
const TOUCH_HOURS = 24;

/** Returns the form with which a run begins, and records that the form is in use. */
export async function findForm(db: Database, { digest, model }: FormKey): Promise<SchemaForm> {
  const found = and(eq(schemaForms.digest, digest), eq(schemaForms.model, model));
  const [row] = await db
    .select({
      form: schemaForms.form,
      isStale: sql<boolean>`${schemaForms.usedAt} < now() - make_interval(hours => ${TOUCH_HOURS})`,
    })
    .from(schemaForms)
    .where(found);
  if (row === undefined) return "bounds";
  if (row.isStale) await db.update(schemaForms).set({ usedAt: sql`now()` }).where(found);
  return row.form;
}

/** Stores the form with which the next run begins. A plainer form that another run has stored stays. */
export async function storeForm(
  db: Database,
  { digest, model }: FormKey,
  form: Exclude<SchemaForm, "bounds">,
): Promise<void> {
  const rank = (value: unknown) => sql`array_position(${sql.param([...FORMS])}::text[], ${value}::text)`;
  await db
    .insert(schemaForms)
    .values({ digest, model, form, usedAt: sql`now()` })
    .onConflictDoUpdate({
      target: [schemaForms.digest, schemaForms.model],
      set: { form, usedAt: sql`now()` },
      setWhere: sql`${rank(schemaForms.form)} <= ${rank(form)}`,
    });
}

/** Deletes forms that were not used for a long time, and the oldest ones if there are too many. */
export async function deleteOldForms(db: Database): Promise<void> {
  await db.delete(schemaForms).where(lt(schemaForms.usedAt, sql`now() - make_interval(days => ${DAYS_MAX})`));
  await db.execute(sql`
    delete from ${schemaForms} where ctid in (
      select ctid from ${schemaForms} order by ${schemaForms.usedAt} desc offset ${ROWS_MAX})`);
}
