ALTER TABLE "variants" ADD COLUMN "last_change" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE "variants" SET "last_change" = "found"."last" FROM (
  SELECT r."session_id", r."key", max(substring(change->>'id' from '^c([0-9]{1,6})$')::integer) AS "last"
  FROM "variant_revisions" r,
    json_array_elements(r."document"->'pages') AS page,
    json_array_elements(page->'changes') AS change
  WHERE change->>'id' ~ '^c[0-9]{1,6}$'
  GROUP BY r."session_id", r."key"
) AS "found"
WHERE "variants"."session_id" = "found"."session_id" AND "variants"."key" = "found"."key";
